// Runs files of tests, some beside one another, and tells in TAP how they end, as tap's own program does: node
// test/support/rooms.mjs --jobs=N FILE… That program gives each process four loaders more, which every process and thread
// that a test starts has to load as well.
import t from 'tap'

/** Seconds that a file, and each test in it, may take, as .taprc has it. */
const timeout = 900
const [jobs, ...files] = process.argv.slice(2)
const options = { at: null, stack: '', buffered: true, timeout: timeout * 1000 }
/**
 * Node 20 ends with `Check failed: trampoline_pc >= 0` now and then on a busy machine, when the collector has code thrown
 * away that was compiled for objects it expected to be short-lived. Tests that build 40,000 rows in one go met it.
 */
const flags = ['--import=./test/support/typescript.mjs', '--enable-source-maps', '--no-allocation-site-pretenuring']
const env = { ...process.env, TAP_TIMEOUT: String(timeout) }

t.jobs = Number(jobs.slice('--jobs='.length))
t.setTimeout(0)
await Promise.all(files.map((file) => t.spawn(process.execPath, [...flags, file], { ...options, env }, file)))
