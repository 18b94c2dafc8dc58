// A chat backend that costs next to nothing: it reads requests off the socket by their length and answers each with the
// same bytes, so that it is never what a bench measures.
import net from 'node:net'

const body = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1_760_000_000,
  model: 'bench',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content:
          'The museum opens at nine on weekdays and at ten on Sundays. Bring a warm coat for the courtyard, since the guided walk starts outside and takes about forty minutes before it reaches the reading room.',
        refusal: null
      },
      logprobs: null,
      finish_reason: 'stop'
    }
  ],
  usage: { prompt_tokens: 60, completion_tokens: 42, total_tokens: 102 }
})
const answer = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
)

const server = net.createServer({ noDelay: true }, (socket) => {
  let pending = Buffer.alloc(0)
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    for (;;) {
      const end = pending.indexOf('\r\n\r\n')
      if (end === -1) return
      const head = pending.toString('latin1', 0, end).toLowerCase()
      const length = Number(/\r\ncontent-length: *(\d+)/.exec(head)?.[1] ?? 0)
      let total = end + 4 + length
      if (/\r\ntransfer-encoding: *chunked/.test(head)) {
        const last = pending.indexOf('0\r\n\r\n', end + 4)
        if (last === -1) return
        total = last + 5
      }
      if (pending.length < total) return
      pending = pending.subarray(total)
      socket.write(answer)
    }
  })
})
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => process.stdout.write(`READY ${server.address().port}\n`))
