// Tells tap whose an uncaught error is by the test that runs, and no more by every promise that was made.
//
// tap follows each asynchronous resource from its making to its destruction, to give an error to the very test that began
// it (async-hook-domain). Node then has each promise watched by the garbage collector: a fifth and more of what tests of
// streams cost. Tests of a process run one after another, so that the one that runs is told by tap itself.
import asyncHooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

const { createHook } = asyncHooks
const none = { enable: () => none, disable: () => none }
asyncHooks.createHook = (methods) =>
  new Error().stack.includes('/node_modules/async-hook-domain/') ? none : createHook(methods)
syncBuiltinESMExports()

const { default: t } = await import('tap')
process.on('uncaughtException', (error) => t.threw(error))
