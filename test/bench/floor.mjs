// What any gateway on these libraries costs that reads and writes JSON and looks at nothing: Fastify, undici with whole
// bodies, a parse and a serialisation each way, nine headers.
import Fastify from 'fastify'
import { Pool } from 'undici'

const pool = new Pool(process.argv[2], { connections: 128 })
const app = Fastify({ bodyLimit: 8 * 1024 * 1024 })
app.removeAllContentTypeParsers()
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
const names = Array.from({ length: 8 }, (_, i) => `x-floor-${i}`)
app.post('/*', async (request, reply) => {
  const body = Buffer.from(JSON.stringify(JSON.parse(request.body.toString())))
  const answer = await pool.request({
    method: 'POST',
    path: request.url,
    headers: { 'content-type': 'application/json', 'content-length': String(body.length) },
    body
  })
  const said = JSON.stringify(JSON.parse(Buffer.from(await answer.body.arrayBuffer()).toString()))
  reply.code(answer.statusCode).header('content-type', 'application/json')
  for (const name of names) reply.header(name, 'value')
  return said
})
await app.listen({ port: 0, host: '127.0.0.1' })
process.stdout.write(`READY ${app.server.address().port}\n`)
