// @fastify/http-proxy as its documentation shows it: a prefix, a wildcard, streams.
import httpProxy from '@fastify/http-proxy'
import Fastify from 'fastify'

const app = Fastify()
app.register(httpProxy, { upstream: process.argv[2], undici: { connections: 1000 } })
await app.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(`READY ${app.server.address().port}\n`)
