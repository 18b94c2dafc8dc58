/**
 * Reads HTML: as source, since most models get that, and as a browser shows it, with tags removed and entities decoded.
 * Text that a browser does not show is marked.
 */
import { type DefaultTreeAdapterTypes, parse } from 'parse5'
import { bounds, type FileInput, type HiddenKind, type Texts, Unread } from '../file.js'
import { addUnnamed, decode, refuseMedia } from './text.js'

type Node = DefaultTreeAdapterTypes.ChildNode
type Element = DefaultTreeAdapterTypes.Element

/** Drawings and embedded pages, which are not read. */
const pictures = new Set(['svg', 'math', 'canvas', 'object', 'embed', 'applet'])
const scripts = new Set(['script', 'style', 'template', 'noscript', 'textarea'])
/** Elements that a reader sees as separate blocks. */
const blocks = new Set(
  `address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption figure footer form
  h1 h2 h3 h4 h5 h6 head header hr html legend li main menu nav ol option p pre section select summary table tbody td tfoot th
  thead title tr ul`.split(/\s+/)
)

const notShown =
  /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0?(?:\.0+)?(?:[;\s]|$))/i
const tiny = /font-size\s*:\s*(?:0?\.\d+|[0-3](?:\.\d+)?)\s*(?:px|pt)|font-size\s*:\s*0(?![.\d])/i
const white = /(?:^|[;\s])color\s*:\s*(?:#fff(?:fff)?\b|white\b|transparent\b|rgba?\(\s*255\s*,\s*255\s*,\s*255)/i
const outside = /(?:left|top|text-indent|margin-left)\s*:\s*-\d{3,}/i

export function readHtml(input: FileInput, out: Texts): void {
  const { text, isUtf8 } = decode(input)
  out.add(text, 'part=source')
  if (!isUtf8) addUnnamed(input.bytes, out)
  addPage(text, 'part=page', out)
}

/** Adds the visible and the hidden texts of a page. */
export function addPage(text: string, where: string, out: Texts): void {
  refuseMedia(text)
  const page = new Page()
  page.read(parse(text).childNodes)
  out.add(page.shown.join(''), where)
  for (const [hidden, texts] of page.unseen) out.add(texts.join('\n'), where, hidden)
}

interface Open {
  node: Node | undefined
  hidden: HiddenKind | undefined
  depth: number
}

class Page {
  readonly shown: string[] = []
  readonly unseen = new Map<HiddenKind, string[]>()

  /** Uses a list instead of recursion: elements may be nested deeper than the call stack. */
  read(roots: readonly Node[]): void {
    const open: Open[] = []
    const push = (nodes: readonly Node[], hidden: HiddenKind | undefined, depth: number) => {
      for (let i = nodes.length - 1; i >= 0; i--) open.push({ node: nodes[i], hidden, depth })
    }
    push(roots, undefined, 0)
    let count = 0
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { node, hidden, depth } = next
      if (++count > bounds.elements || depth > bounds.depth) throw new Unread('too_large')
      if (node === undefined) this.shown.push('\n')
      else if (node.nodeName === '#text') this.#text((node as DefaultTreeAdapterTypes.TextNode).value, hidden)
      else if (node.nodeName === '#comment') this.#text((node as DefaultTreeAdapterTypes.CommentNode).data, 'comment')
      else if ('attrs' in node) {
        const { tagName } = node
        if (pictures.has(tagName))
          throw new Unread(tagName === 'object' || tagName === 'embed' ? 'object_unread' : 'drawing_unread')
        const now = hidden ?? hiddenBy(node)
        if (blocks.has(tagName)) {
          if (now === undefined) this.shown.push('\n')
          open.push({ node: undefined, hidden: now, depth })
        }
        this.#attributes(node)
        const inner =
          tagName === 'template' ? (node as DefaultTreeAdapterTypes.Template).content.childNodes : node.childNodes
        push(inner, now, depth + 1)
      }
    }
  }

  #text(text: string, hidden: HiddenKind | undefined): void {
    if (hidden === undefined) {
      this.shown.push(text)
      return
    }
    const texts = this.unseen.get(hidden)
    if (texts === undefined) this.unseen.set(hidden, [text])
    else texts.push(text)
  }

  #attributes({ tagName, attrs }: Element): void {
    for (const { name, value } of attrs) {
      if (value === '') continue
      if (name === 'srcdoc') throw new Unread('object_unread')
      if (name === 'alt' || name === 'title' || name.startsWith('aria-')) this.#text(value, 'alternative')
      else this.#text(value, tagName === 'meta' ? 'metadata' : 'attribute')
    }
  }
}

function hiddenBy({ tagName, attrs }: Element): HiddenKind | undefined {
  if (scripts.has(tagName)) return 'script'
  for (const { name, value } of attrs) {
    if (name === 'hidden') return 'invisible'
    if (name === 'color' && /^\s*(?:#fff(?:fff)?|white)\s*$/i.test(value)) return 'white'
    if (name !== 'style') continue
    if (notShown.test(value) || outside.test(value)) return 'invisible'
    if (tiny.test(value)) return 'tiny'
    if (white.test(value)) return 'white'
  }
  return undefined
}
