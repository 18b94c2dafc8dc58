// The least that a proxy on undici can do: read the body, send it on with its length, read the answer, write it back.
import http from 'node:http'
import { Pool } from 'undici'

const pool = new Pool(process.argv[2], { connections: 128 })
const server = http.createServer((request, response) => {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', async () => {
    const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
    const answer = await pool.request({
      method: 'POST',
      path: request.url,
      headers: { 'content-type': 'application/json', 'content-length': String(body.length) },
      body
    })
    const bytes = Buffer.from(await answer.body.arrayBuffer())
    response.writeHead(answer.statusCode, {
      'content-type': answer.headers['content-type'],
      'content-length': bytes.length
    })
    response.end(bytes)
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`READY ${server.address().port}\n`))
