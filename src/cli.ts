#!/usr/bin/env node
/** The command: `sluicegate serve | check | evaluate | migrate | backup | restore | data-key | keys | constitutions | audit | users`. What each does is in `cli/`; here is how it is called. */
import { existsSync, realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Command, CommanderError, Help, Option } from 'commander'
import { keepSmall } from './base/heap.js'
import { version } from './base/version.js'
import { collect, complain, endWithReader, exitCodes } from './cli/terminal.js'

const plainHelp = new Help()

/** Modules are loaded by the command that needs them: `evaluate` waits for no web server. */
function createProgram(): Command {
  const program = new Command('sluicegate')
    .description('An LLM safety gateway: one evaluator in front of chat backends and behind an evaluate endpoint.')
    .version(version)
    .exitOverride()
    .configureHelp({
      optionDescription: (option) => `${plainHelp.optionDescription(option)}${option.mandatory ? ' (required)' : ''}`
    })
    .showHelpAfterError('(--help shows what there is)')
    .addHelpText(
      'after',
      '\nThe configuration is SLUICEGATE_CONFIG (or the shipped one) and the SLUICEGATE_* variables.'
    )

  program
    .command('serve')
    .description('serve until SIGTERM or SIGINT')
    .option('--host <address>', 'the address for clients, before SLUICEGATE_HOST')
    .option('--port <number>', 'the port for clients, before SLUICEGATE_PORT; 0 takes a free one')
    .action(async ({ host, port }: { host?: string; port?: string }) => {
      const started = keepSmall()
      const { serve } = await import('./main/server.js')
      const given = {
        ...(host !== undefined && { SLUICEGATE_HOST: host }),
        ...(port !== undefined && { SLUICEGATE_PORT: port })
      }
      const options = {
        ...(host !== undefined && { SLUICEGATE_HOST: '--host' }),
        ...(port !== undefined && { SLUICEGATE_PORT: '--port' })
      }
      await serve({ env: { ...process.env, ...given }, options })
      started()
    })

  program
    .command('check')
    .description('validate the configuration, every constitution that it names, and what it needs beside it')
    .argument('[file]', 'a configuration file; default: the one that serve would take')
    .action(async (file: string | undefined) => (await import('./cli/check.js')).check(file))

  program
    .command('evaluate')
    .description('evaluate a text without a server and print the evaluation as JSON')
    .argument('[text]', 'the text, or - for standard input')
    .addHelpText(
      'after',
      '\nThe constitution is read from its file (policy "default@file", or "default@shipped" without a file of your own). A server\nmay have another version in force, from its store.'
    )
    .option('--context <json>', 'the context, a JSON object')
    .option('--constitution <name>', 'the constitution that judges', 'default')
    .option('--explain', 'what led to the decision, and what would flip it: readings, matches, scores, bands, context')
    .option('--json', 'with --explain, print JSON on a terminal too')
    .option('--jsonl', 'read lines {"id","input_text","context"?} and print lines {"id", …evaluation} in order')
    .action(async (text: string | undefined, options) => (await import('./cli/evaluate.js')).evaluate(text, options))

  program
    .command('migrate')
    .description('bring the tables to their newest form (a start does so too), or move a SQLite file to PostgreSQL')
    .option('--from <url>', 'sqlite:<path>: move every row of it')
    .option('--to <url>', 'postgres://…, where there is no row yet; default: the storage of the configuration')
    .action(async (options) => (await import('./cli/migrate.js')).migrate(options))

  program
    .command('backup')
    .description('copy a SQLite store into a file, beside a running server, and check the copy')
    .argument('<file>', 'where the backup goes; it must not be there yet')
    .action(async (file: string) => (await import('./cli/backup.js')).backup(file))
  program
    .command('restore')
    .description('put a backup in the place of a SQLite store that no server uses')
    .argument('<file>', 'a backup')
    .option('--replace', 'put aside a store that is there already')
    .action(async (file: string, options) => (await import('./cli/backup.js')).restore(file, options))

  const dataKey = program.command('data-key').description('the key that encrypts stored texts')
  dataKey
    .command('list')
    .description('list the keys that open the store, and how many texts each has sealed')
    .option('--json', 'print JSON')
    .action(async (options) => (await import('./cli/data-key.js')).list(options))
  dataKey
    .command('rotate')
    .description('seal with another key, and what is stored anew, beside running servers')
    .option('--to <file>', 'holds the next key, where SLUICEGATE_DATA_KEY gives the present one')
    .action(async (options) => (await import('./cli/data-key.js')).rotate(options))
  dataKey
    .command('retire')
    .description('after every node was started with the next key: the one before opens nothing any more')
    .action(async () => (await import('./cli/data-key.js')).retire())

  const keys = program.command('keys').description('manage API keys in the store, also beside a running server')
  const inAccount = (command: Command) =>
    command.option('--account <name>', 'the account', 'default').option('--json', 'print JSON as the API does')

  inAccount(keys.command('create'))
    .description('create a key and print it, this once')
    .requiredOption('--name <name>', 'what the key is for')
    .option('--scopes <list>', 'scopes, separated by commas; default: * (everything)', collect)
    .addOption(new Option('--env <environment>', 'live or test').choices(['live', 'test']).default('live'))
    .option('--ip <list>', 'addresses and CIDRs that may use it; default: all', collect)
    .option('--expires <time>', 'an ISO 8601 time, or a duration from now such as 30d; default: never')
    .option('--limit <number>', 'requests per minute; default: the environment’s limit')
    .option('--concurrent <number>', 'requests under way at once; default: limits.concurrent_per_key')
    .option('--accept-terms', 'accept the terms of use of server.terms_url, where there are any')
    .option('--no-self-rotation', 'it may not rotate itself, unless it holds keys:rotate')
    .action(async (options) => (await import('./cli/keys.js')).create(options))
  inAccount(keys.command('list'))
    .description('list the keys of an account')
    .option('--lineage <key_id>', 'of the chain of rotations alone that began with this key')
    .action(async (options) => (await import('./cli/keys.js')).list(options))
  inAccount(keys.command('revoke'))
    .description('end a key for good (a running server notices within 5 s)')
    .argument('<key_id>')
    .option('--lineage', 'every key of the chain of rotations that began with this key')
    .action(async (keyId: string, options) => (await import('./cli/keys.js')).revoke(keyId, options))
  inAccount(keys.command('rotate'))
    .description('replace a key; the old one works for 5 more minutes')
    .argument('<key_id>')
    .action(async (keyId: string, options) => (await import('./cli/keys.js')).rotate(keyId, options))

  const constitutions = program
    .command('constitutions')
    .description('versions of constitutions in the store, also beside a running server')
  const asJson = (command: Command) => command.option('--json', 'print JSON as the API does')
  asJson(constitutions.command('list'))
    .description('list the constitutions and what is in force')
    .action(async (options) => (await import('./cli/constitutions.js')).list(options))
  asJson(constitutions.command('show'))
    .description('print the text of a version; default: the one in force')
    .argument('<name>')
    .argument('[version]')
    .action(async (name, version, options) =>
      (await import('./cli/constitutions.js')).showVersion(name, version, options)
    )
  asJson(constitutions.command('put'))
    .description('store a file as a new version; what is in force stays so')
    .argument('<name>')
    .argument('<file>', 'YAML, or - for standard input')
    .option('--note <text>', 'why, for those who come later')
    .action(async (name, file, options) => (await import('./cli/constitutions.js')).put(name, file, options))
  asJson(constitutions.command('activate'))
    .description('put a version in force (a running server follows within 5 s)')
    .argument('<name>')
    .argument('<version>')
    .action(async (name, version, options) => (await import('./cli/constitutions.js')).activate(name, version, options))
  asJson(constitutions.command('test'))
    .description('what a candidate would change on texts from standard input, one a line')
    .argument('<name>')
    .argument('<candidate>', 'a file, or the number of a stored version')
    .action(async (name, candidate, options) => (await import('./cli/constitutions.js')).test(name, candidate, options))

  const audit = program.command('audit').description('what was decided and done, and whether anyone tampered with it')
  audit
    .command('export')
    .description('print the rows as JSON lines, oldest first')
    .option('--account <name>', 'default: every account')
    .option('--kind <kind>', 'evaluation, key.created, review.decided, …')
    .option('--from <time>', 'an ISO 8601 time, or a duration ago such as 24h')
    .option('--to <time>', 'the same')
    .action(async (options) => (await import('./cli/audit.js')).exportRows(options))
  audit
    .command('verify')
    .description('follow every chain of hashes and name the rows that are missing, altered or too many')
    .option('--head <node:position:hash>', 'an end of a chain that was kept elsewhere; may be repeated', collect)
    .action(async (options) => (await import('./cli/audit.js')).verify(options))

  const users = program.command('users').description('who may sign in to the dashboard')
  inAccount(users.command('invite'))
    .description('print a link that makes a user, once, within 24 hours')
    .option('--role <role>', 'viewer, reviewer or admin', 'viewer')
    .option('--samples', 'who may read samples too')
    .action(async (options) => (await import('./cli/users.js')).invite(options))
  inAccount(users.command('list'))
    .description('list the users of an account')
    .action(async (options) => (await import('./cli/users.js')).list(options))
  inAccount(users.command('disable'))
    .description('keep someone out, at once')
    .argument('<user_id>')
    .action(async (userId: string, options) => (await import('./cli/users.js')).disable(userId, options))
  return program
}

async function main(args: readonly string[]): Promise<void> {
  // A server outlives whoever read its first lines; its help does not.
  if (args[0] !== 'serve' || args.includes('--help') || args.includes('-h')) endWithReader()
  try {
    await createProgram().parseAsync(args, { from: 'user' })
  } catch (error) {
    // Commander has written its own sentence; it exits with 1 where the arguments are wrong, and so does no argument at all.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
    // Not a mere exit code: what a half-started server holds open would keep the process alive.
    else process.exit(complain(error))
  }
}

/** False where this file is imported. npm starts it through a link in node_modules/.bin. */
function isStarted(): boolean {
  const started = process.argv[1]
  return started !== undefined && existsSync(started) && realpathSync(started) === fileURLToPath(import.meta.url)
}

if (isStarted()) await main(process.argv.slice(2))
