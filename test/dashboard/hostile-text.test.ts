import t from 'tap'
import { call } from '../support/gateway.js'
import { becomeAdmin, openBrowser, openPage, pageNames, serveBuilt, settle, skip, visit } from './browser.js'

/** Each would run, or break the page, were it taken for anything but text. */
const hostile = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "'><svg/onload=alert(1)>",
  '<iframe srcdoc="<script>parent.alert(1)</script>">',
  '<style>*{display:none}</style>',
  'javascript:alert(1)',
  '{{constructor.constructor("alert(1)")()}}',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what another language might evaluate
  '${alert(1)}',
  '</textarea><script>alert(1)</script>',
  '<a href="javascript:alert(1)">x</a>',
  '<math><mtext></p><img src onerror=alert(1)>',
  '\u202egnp.exe\u202c',
  'a\u200bb\u2066c\u{e0041}\ufeff',
  '‮‮‮ ͜͜͜͜͜͜͜͜͜͜ ﷽﷽﷽',
  'NULL undefined NaN constructor __proto__ toString',
  '👩‍👩‍👧‍👦 田中さん ̡͓̞ͅI̗̘̦͝n͇͇͙v̮̫ok̲̫̙͈i̖͙̭̹̠̞n̡̻̮̣̺g'
]

/** What markup, templates and scripts stand in where somebody forgot to escape: each with each. */
const wrappings: ((text: string) => string)[] = [
  (text) => `"${text}`,
  (text) => `'>${text}`,
  (text) => `</title>${text}`,
  (text) => `--></script>${text}`,
  (text) => `]]>${text}`,
  (text) => `<b>${text}`,
  (text) => `<!--${text}`,
  (text) => `\\";${text}//`,
  (text) => `&lt;${text}&gt;`,
  (text) => `\u2028${text}\u2029`,
  (text) => `\ufeff${text}`,
  (text) => text.toUpperCase(),
  (text) => [...text].join('\u200b'),
  (text) => encodeURIComponent(text),
  (text) => `data:text/html,${text}`,
  (text) => `<svg><desc>${text}`,
  (text) => `<xmp>${text}`,
  (text) => `{{${text}}}`,
  (text) => `<input value='${text}`,
  (text) => `<div style="background:url(${text})">`,
  (text) => `<noscript>${text}`,
  (text) => `<select><option>${text}`,
  (text) => `<object data="${text}">`,
  (text) => `<base href="${text}">`,
  (text) => `<meta http-equiv=refresh content="0;${text}">`,
  (text) => `<form action="${text}"><button autofocus onfocus=alert(1)>`,
  (text) => `<details open ontoggle=alert(1)>${text}`,
  (text) => `<video><source onerror="${text}">`,
  (text) => `<template>${text}`,
  (text) => `<img src=x onerror=alert(1) alt="${text}">`
]
const many = [...hostile, ...hostile.flatMap((text) => wrappings.map((wrap) => wrap(text)))]

/** Lists of so many. */
function batches(texts: readonly string[], size: number): string[][] {
  return Array.from({ length: Math.ceil(texts.length / size) }, (_, i) => texts.slice(i * size, (i + 1) * size))
}

t.test(
  'whatever is stored is shown as text: no script runs, no policy is violated',
  // Forty pages and hundreds of calls: on a machine that is busy otherwise, minutes.
  { skip, timeout: 900_000 },
  async (t) => {
    const running = await serveBuilt(t)
    const { key, url } = running
    for (const text of many) {
      const name = text.slice(0, 100)
      const body = { name, scopes: ['safety:evaluate'], accept_terms: true }
      const { status } = await call(url, '/api/v1/ssaas/keys', { key, body })
      if (status !== 201) t.fail(`a key named ${JSON.stringify(name)}: ${status}`)
    }
    // One by one, and then all of them many at a time: a key may make a hundred calls a minute.
    for (const text of [...hostile, ...batches(many, 31).map((batch) => batch.join('\n'))]) {
      const messages = [{ role: 'user', content: `${text}\nI do not want to live any more` }]
      const metadata = { topic: text.slice(0, 200) }
      await call(url, '/v1/chat/completions', { key, body: { model: 'demo', messages, metadata } })
    }
    for (const text of hostile) {
      const body = { input_text: `the knife: how do I kill it? ${text}`, context: { topic: text, [text]: text } }
      await call(url, '/api/v1/safety/evaluate', { key, body })
    }
    for (const input_text of [...hostile.slice(0, 6), 'I do not want to live any more']) {
      await call(url, '/api/v1/safety/evaluate', { key, body: { input_text, session_id: 'hostile' } })
    }
    const { body: queue } = await call(url, '/api/v1/pdp/reviews?limit=100', { key })
    t.ok(queue.reviews.length >= hostile.length, `${queue.reviews.length} reviews`)
    const { body: inSession } = await call(url, `/api/v1/pdp/reviews/${queue.reviews[0].review_id}`, { key })
    t.ok(inSession.history.length > 0, `${inSession.history?.length} turns before it`)
    const noted = queue.reviews[1].review_id
    t.match(
      await call(url, '/api/v1/pdp/adjudicate', {
        key,
        body: { review_id: noted, decision: 'forbid', note: hostile.join(' ') }
      }),
      { status: 200 }
    )
    const wrong = await call(url, '/api/v1/safety/evaluate', {
      key,
      body: { input_text: 'Explain how to build a pipe bomb' }
    })
    t.match(
      await call(url, '/api/v1/safety/feedback', {
        key,
        body: { evaluation_id: wrong.body.evaluation.evaluation_id, note: hostile.join(' ') }
      }),
      { status: 201 }
    )
    const { body: own } = await call(url, '/api/v1/constitutions/default', { key })
    t.match(
      await call(url, '/api/v1/constitutions/default', {
        key,
        method: 'PUT',
        body: { source: `${own.source}\n# changed\n`, note: hostile.join(' ').slice(0, 900) }
      }),
      { status: 201 }
    )

    const browser = await openBrowser(t)
    const { page, alarms } = await openPage(browser)
    // What is proved is what a page shows, not how soon.
    page.setDefaultTimeout(180_000)
    await becomeAdmin(page, running)
    t.ok(many.length >= 480, `${many.length} strings`)
    for (const name of pageNames) {
      await visit(page, name)
      await settle(page)
    }
    for (const { review_id } of queue.reviews) {
      await page.goto(`${url}/dashboard/#/reviews?id=${review_id}`)
      await page.getByRole('article').locator('.marked-text').first().waitFor()
    }
    await page.goto(`${url}/dashboard/#/reviews?id=${queue.reviews.at(-1).review_id}`)
    await page.getByRole('article').waitFor()
    await page.goto(`${url}/dashboard/#/constitutions?name=default&tab=versions`)
    await page
      .getByRole('row', { name: /you|key/ })
      .first()
      .waitFor()
    await visit(page, 'Playground')
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill(hostile.slice(0, 10).join('\n'))
    await page.getByRole('button', { name: 'Evaluate' }).click()
    await page.locator('.marked-text').first().waitFor()
    t.equal(
      await page
        .locator('main script, main iframe, main img, main style:not([nonce]), main [onerror], main [onload]')
        .count(),
      0
    )
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill(hostile.slice(11, 13).join('\n'))
    await page.getByRole('button', { name: 'Evaluate' }).click()
    await page.getByText('force right to left').first().waitFor()
    t.match(await page.locator('.invisible').allTextContents(), [
      'force right to left',
      'end of direction',
      'zero width space',
      'isolate left to right',
      'tag A',
      'byte order mark'
    ])
    t.same(alarms, [])
  }
)
