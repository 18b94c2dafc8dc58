/**
 * Removes from the child what no parser needs: sockets, name lookups, servers, processes, threads. This stops ordinary
 * code. Against an attacker who already runs code of their own only the kernel's network namespace helps
 * (`isolation.ts`), where it exists.
 */
import childProcess from 'node:child_process'
import dgram from 'node:dgram'
import dns from 'node:dns'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import tls from 'node:tls'
import workerThreads from 'node:worker_threads'

function refuse(): never {
  throw new Error('not allowed here')
}

const shut = [childProcess, dgram, dns, dns.promises, http, http2, https, net, tls, workerThreads] as object[]

/** Called once, after the child's own pipes are open and before any parser is loaded. */
export function shutDoors(): void {
  for (const prototype of [net.Socket.prototype, net.Server.prototype, dgram.Socket.prototype] as object[]) {
    for (const name of ['connect', 'listen', 'bind', 'send']) {
      if (name in prototype) Object.defineProperty(prototype, name, { value: refuse })
    }
  }
  for (const module of shut) {
    for (const [name, value] of Object.entries(module)) {
      if (typeof value !== 'function') continue
      // Classes stay: parts of Node itself extend them.
      if (!/^[a-z]/.test(name)) continue
      Reflect.set(module, name, refuse)
    }
  }
  Reflect.set(workerThreads, 'Worker', refuse)
  syncBuiltinESMExports()
  for (const name of ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest']) {
    Object.defineProperty(globalThis, name, { value: undefined, configurable: true, writable: true })
  }
  for (const name of ['binding', '_linkedBinding', 'dlopen', 'getBuiltinModule']) Reflect.set(process, name, refuse)
}
