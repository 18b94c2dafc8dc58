/**
 * Counters and histograms for what every request counts. prom-client's own classes take an object of labels at each
 * call, check it and hash it to a text: about 0.5 µs each, ten times per request. Here a child is found by its label
 * values, in order, and counts in a plain number; prom-client asks for all of them when a scrape comes.
 */
import type { Metric, MetricValue, Registry } from 'prom-client'

type Labels<L extends readonly string[]> = { readonly [K in keyof L]: string }

interface Description<L extends readonly string[]> {
  name: string
  help: string
  labelNames: L
}

/** The children of one metric, by up to two label values; they come from closed sets, so none is ever dropped. */
abstract class Series<Child, L extends readonly string[]> {
  readonly name: string
  readonly help: string
  readonly labelNames: L
  readonly aggregator = 'sum'
  abstract readonly type: 'counter' | 'histogram'
  readonly #children = new Map<string, Map<string, Child>>()

  constructor({ name, help, labelNames }: Description<L>, registry: Registry) {
    this.name = name
    this.help = help
    this.labelNames = labelNames
    registry.registerMetric(this as unknown as Metric)
  }

  protected abstract create(): Child
  protected abstract values(child: Child, labels: Record<string, string>): MetricValue<string>[]

  /** The child of these label values. */
  of(...[first = '', second = '']: Labels<L>): Child {
    let row = this.#children.get(first)
    if (row === undefined) {
      row = new Map()
      this.#children.set(first, row)
    }
    let child = row.get(second)
    if (child === undefined) {
      child = this.create()
      row.set(second, child)
    }
    return child
  }

  /** Visits every child with its label values, for sums over other labels. */
  each(visit: (child: Child, ...labels: string[]) => void): void {
    for (const [first, row] of this.#children) for (const [second, child] of row) visit(child, first, second)
  }

  /** Called by prom-client for the values of a metric. */
  async get() {
    const values: MetricValue<string>[] = []
    for (const [first, row] of this.#children) {
      for (const [second, child] of row) {
        const given = [first, second]
        const labels = Object.fromEntries(this.labelNames.map((label, index) => [label, given[index] ?? '']))
        values.push(...this.values(child, labels))
      }
    }
    return { name: this.name, help: this.help, type: this.type, values, aggregator: this.aggregator }
  }

  /** Called by prom-client when its registry is reset. */
  reset(): void {
    this.#children.clear()
  }
}

export class CounterChild {
  value = 0

  inc(by = 1): void {
    this.value += by
  }
}

export class CounterSeries<const L extends readonly string[]> extends Series<CounterChild, L> {
  readonly type = 'counter' as const

  protected create(): CounterChild {
    return new CounterChild()
  }

  protected values({ value }: CounterChild, labels: Record<string, string>): MetricValue<string>[] {
    return [{ value, labels }]
  }
}

export class HistogramChild {
  /** By bucket, not cumulated; the last one is beyond every bound. */
  readonly counts: Float64Array
  sum = 0
  readonly #bounds: readonly number[]

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    let bucket = 0
    while (bucket < this.#bounds.length && value > this.#bounds[bucket]!) bucket++
    this.counts[bucket]!++
    this.sum += value
  }
}

export class HistogramSeries<const L extends readonly string[]> extends Series<HistogramChild, L> {
  readonly type = 'histogram' as const
  readonly bounds: readonly number[]

  constructor(description: Description<L>, bounds: readonly number[], registry: Registry) {
    super(description, registry)
    this.bounds = bounds
  }

  protected create(): HistogramChild {
    return new HistogramChild(this.bounds)
  }

  protected values({ counts, sum }: HistogramChild, labels: Record<string, string>): MetricValue<string>[] {
    const named = (suffix: string, value: number, more: Record<string, string | number> = {}) =>
      ({ metricName: `${this.name}_${suffix}`, value, labels: { ...more, ...labels } }) as MetricValue<string>
    const bounds = [...this.bounds, '+Inf']
    let count = 0
    const buckets = bounds.map((le, bucket) => {
      count += counts[bucket]!
      return named('bucket', count, { le })
    })
    return [...buckets, named('sum', sum), named('count', count)]
  }
}
