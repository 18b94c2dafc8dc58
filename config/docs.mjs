// The pages that the gateway serves at /docs, from the Markdown of docs/. Text of the pages is escaped and their HTML is
// shown as text; links lead to other pages or away, and what lies elsewhere in the project is named without a link.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, normalize, posix, relative } from 'node:path'
import { Marked } from 'marked'

const escaped = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

/** As GitHub makes it of a heading, so that links into a page hold on both. */
const anchorOf = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')

/** docs/README.md is the index. */
const fileOf = (page) => (page === 'README.md' ? 'index.html' : page.replace(/\.md$/, '.html'))

/**
 * @param root of the project
 * @param out a folder that is made
 */
export function renderDocs(root, out) {
  const source = join(root, 'docs')
  const pages = readdirSync(source, { recursive: true })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.md'))
    .sort()
  mkdirSync(join(out, 'images'), { recursive: true })
  writeFileSync(join(out, 'page.css'), style)
  for (const page of pages) {
    const up = page.includes('/') ? '../' : ''
    const within = (href) => posix.normalize(posix.join(posix.dirname(page), href))
    const renderer = {
      html: ({ text }) => (/^<!--[\s\S]*-->\s*$/.test(text) ? '' : escaped(text)),
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${anchorOf(plain(text))}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens)
        if (/^https?:/.test(href)) return `<a href="${escaped(href)}" rel="noreferrer">${inner}</a>`
        const [path, anchor] = href.split('#', 2)
        const target = path === '' ? page : within(path)
        if (!pages.includes(target)) return inner
        const to = `${relative(dirname(page), fileOf(target)).replaceAll('\\', '/')}${anchor === undefined ? '' : `#${anchor}`}`
        return `<a href="${escaped(to)}">${inner}</a>`
      },
      image({ href, text }) {
        const name = basename(href)
        const file = normalize(join(source, dirname(page), href))
        // The image is built without the folder of the tests, where a chart lies.
        if (!existsSync(file)) return `<em>${escaped(text)}</em>`
        copyFileSync(file, join(out, 'images', name))
        return `<img src="${up}images/${escaped(name)}" alt="${escaped(text)}">`
      }
    }
    const text = readFileSync(join(source, page), 'utf8')
    const title = /^# (.+)$/m.exec(text)?.[1] ?? page
    const body = new Marked({ gfm: true, renderer }).parse(text)
    mkdirSync(dirname(join(out, page)), { recursive: true })
    writeFileSync(join(out, fileOf(page)), htmlOf({ title, body, up }))
  }
}

const plain = (text) => text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')

const htmlOf = ({ title, body, up }) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · Sluicegate</title>
<link rel="stylesheet" href="${up}page.css">
</head>
<body>
<nav><a href="${up}index.html">Documentation</a> <a href="${up}../docs">API reference</a> <a href="${up}../dashboard/">Dashboard</a></nav>
<main>
${body}</main>
</body>
</html>
`

const style = `:root { color-scheme: light dark; font: 16px/1.55 system-ui, sans-serif }
body { margin: 0 auto; max-width: 58rem; padding: 1rem }
nav { display: flex; gap: 1.2rem; border-bottom: 1px solid #8886; padding-bottom: .6rem }
h1, h2, h3 { line-height: 1.2; margin: 1.8em 0 .6em }
code, pre { font: .9em/1.5 ui-monospace, monospace }
code { background: #8882; border-radius: 3px; padding: .1em .3em }
pre { background: #8882; border-radius: 4px; overflow-x: auto; padding: .8rem }
pre code { background: none; padding: 0 }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { border: 1px solid #8886; padding: .3rem .6rem; text-align: left; vertical-align: top }
img { max-width: 100% }
`
