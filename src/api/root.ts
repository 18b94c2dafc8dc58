/** The root of each listener: where a browser is led, and what a person with a program reads in its 404. */
import { dashboardPath } from '../edge/edge.js'
import { dashboardHome } from './dashboard.js'

export interface Root {
  home?: string
  atRoot: (mount: string) => string
}

/** @param docsUrl address of the documentation: absolute, or a path below the root */
export function gatewayRoot(docsUrl: string): Root {
  const dashboard = dashboardHome()
  return {
    home: dashboard ?? 'docs',
    atRoot(mount) {
      const docs = docsUrl.startsWith('/') ? mount + docsUrl : docsUrl
      const page = dashboard === undefined ? '' : ` The dashboard is at ${mount}${dashboardPath}/.`
      return `This is Sluicegate, an LLM safety gateway; there is nothing at its root.${page} The documentation is at ${docs}, the OpenAPI document at ${mount}/openapi.json.`
    }
  }
}

export const opsRoot: Root = {
  atRoot: () =>
    'This is the operations listener of Sluicegate, an LLM safety gateway; there is nothing at its root. Metrics are at /metrics, health at /healthz and /readyz.'
}
