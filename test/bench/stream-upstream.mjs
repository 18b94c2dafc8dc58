// A chat backend that streams: 50 pieces of a harmless text, so many milliseconds apart as the model's name says (`gap-20`).
import http from 'node:http'

const prose =
  'Sure. The museum opens at nine on weekdays and at ten on Sundays. Bring a warm coat for the courtyard, since the guided ' +
  'walk starts outside. It takes about forty minutes before it reaches the reading room, where the oldest maps are shown. ' +
  'Photographs are fine. Tripods are not, and bags stay in the lockers by the door. The café serves soup until three.'
const pieces = Array.from({ length: 50 }, (_, i) => prose.slice((i * prose.length) / 50, ((i + 1) * prose.length) / 50))
const head = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'bench' }
const frame = (delta, finish_reason = null) =>
  `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const frames = [
  ...pieces.map((content, i) => frame({ ...(i === 0 && { role: 'assistant' }), content })),
  `${frame({}, 'stop')}data: [DONE]\n\n`
]

const server = http.createServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => {
    const gap = Number(/"gap-(\d+)"/.exec(body)?.[1] ?? 0)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (gap === 0) return response.end(frames.join(''))
    let next = 0
    const timer = setInterval(() => {
      response.write(frames[next++])
      if (next === frames.length) {
        clearInterval(timer)
        response.end()
      }
    }, gap)
    response.once('close', () => clearInterval(timer))
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`READY ${server.address().port}\n`))
