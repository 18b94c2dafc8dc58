// One chart as SVG: per task, what each system catches and what it wrongly stops. Readable on light and dark grounds.

const width = 860
const label = 250
const bar = 250
const gap = 40
const line = 20

const escapeXml = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
const percent = (share) => `${(share * 100).toFixed(share >= 0.0995 ? 0 : share >= 0.00995 || share === 0 ? 1 : 2)} %`

/** @param results of one run. @returns the SVG document */
export function drawChart({ systems, about }) {
  const parts = []
  let y = 64
  for (const { task, systems: found } of systems) {
    parts.push(`<text class="task" x="16" y="${y + 4}">${escapeXml(task)}</text>`)
    y += 14
    for (const { system, recall, falsePositives } of found.filter((entry) => entry.recall !== undefined)) {
      const own = system === 'sluicegate' ? ' own' : ''
      parts.push(
        `<text class="name${own}" x="${label - 8}" y="${y + 13}" text-anchor="end">${escapeXml(system)}</text>`
      )
      parts.push(drawBar(label, y, recall, `good${own}`))
      parts.push(drawBar(label + bar + gap, y, falsePositives, `bad${own}`))
      y += line
    }
    y += 22
  }
  const height = y + 16
  const heads = [
    ['caught, % of what should be (more is better)', label],
    ['wrongly stopped, % of the harmless (less is better)', label + bar + gap]
  ].map(([text, x]) => `<text class="head" x="${x}" y="40">${text}</text>`)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Recall and false positives by task, Sluicegate and other open libraries">
<title>What is caught and what is wrongly stopped, on the same rows (${escapeXml(about.policy)}, ${about.rows} rows of ${escapeXml(about.split)})</title>
<style>
text { font: 12px system-ui, sans-serif; fill: #24292f }
.task { font-weight: 600; font-size: 13px } .head, .value { fill: #57606a } .head { font-size: 11px }
.own { font-weight: 600 } .ground { fill: #8c959f; opacity: .16 } .good, .bad { fill: #8c959f }
.good.own { fill: #1a7f64 } .bad.own { fill: #b35900 } .range { stroke: #57606a; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .head, .value { fill: #9da7b3 } .good.own { fill: #3fb68b } .bad.own { fill: #e3924a } .range { stroke: #c9d1d9 }
}
</style>
${heads.join('\n')}
${parts.join('\n')}
</svg>
`
}

/** A bar of 0..100 % with the 95 % interval as a line over its end. */
function drawBar(x, y, rate, kind) {
  if (rate === undefined) return ''
  const at = (share) => (x + share * (bar - 60)).toFixed(1)
  const middle = y + 9
  return (
    `<rect class="ground" x="${x}" y="${y + 3}" width="${bar - 60}" height="12" rx="2"/>` +
    `<rect class="${kind}" x="${x}" y="${y + 3}" width="${(rate.share * (bar - 60)).toFixed(1)}" height="12" rx="2"/>` +
    `<line class="range" x1="${at(rate.low)}" x2="${at(rate.high)}" y1="${middle}" y2="${middle}"/>` +
    `<text class="value" x="${x + bar - 54}" y="${y + 13}">${percent(rate.share)}</text>`
  )
}
