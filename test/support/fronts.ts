/** Real proxies in front of the gateway, as operators run them. */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { tempDir } from './gateway.js'

type Teardown = { teardown(fn: () => unknown): unknown }

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

async function run(t: Teardown, command: string, args: string[], ports: readonly number[]): Promise<string[]> {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (bytes) => {
    errors += bytes
  })
  t.teardown(() => child.kill('SIGKILL'))
  for (const port of ports) {
    for (let tries = 0; ; tries++) {
      if (
        await fetch(`http://127.0.0.1:${port}/healthz`).then(
          (r) => r.ok,
          () => false
        )
      )
        break
      // Two minutes, on a machine that does other things too.
      if (tries > 2400) throw new Error(`${command} does not serve: ${errors}`)
      await setTimeout(50)
    }
  }
  return ports.map((port) => `http://127.0.0.1:${port}`)
}

/**
 * @param from the address that it calls from
 * @returns nginx as it comes, and passing on bodies and headers with as few changes as it can be told to make
 */
export async function startNginx(t: Teardown, to: string, from = '127.0.0.1'): Promise<string[]> {
  const dir = tempDir(t)
  mkdirSync(join(dir, 'logs'))
  const ports = [await freePort(), await freePort()] as const
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${dir}/${name};`
  )
  const server = (port: number, more: string) => `  server {
    listen 127.0.0.1:${port};
    ${more}
    location / {
      proxy_pass http://gateway;
      proxy_bind ${from};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
  }`
  const config = `daemon off; master_process off; pid ${dir}/nginx.pid; error_log ${dir}/logs/error.log;
events {}
http {
  access_log off;
  ${temporary.join(' ')}
  upstream gateway { server ${new URL(to).host}; keepalive 2; }
${server(ports[0], '')}
${server(ports[1], 'proxy_request_buffering off; ignore_invalid_headers off; underscores_in_headers on; merge_slashes off;')}
}
`
  writeFileSync(join(dir, 'nginx.conf'), config)
  return run(t, 'nginx', ['-p', dir, '-e', join(dir, 'logs/start.log'), '-c', join(dir, 'nginx.conf')], ports)
}

/**
 * @param from the address that it calls from
 * @returns haproxy as it comes, and accepting what is no valid HTTP
 */
export async function startHaproxy(t: Teardown, to: string, from = '127.0.0.1'): Promise<string[]> {
  const dir = tempDir(t)
  const ports = [await freePort(), await freePort()] as const
  const config = `global
  maxconn 1000
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
  http-reuse always
  option forwardfor
frontend strict
  bind 127.0.0.1:${ports[0]}
  default_backend gateway
frontend lax
  bind 127.0.0.1:${ports[1]}
  option accept-invalid-http-request
  default_backend gateway
backend gateway
  server gateway ${new URL(to).host} source ${from}
`
  const file = join(dir, 'haproxy.cfg')
  writeFileSync(file, config)
  return run(t, 'haproxy', ['-db', '-f', file], ports)
}
