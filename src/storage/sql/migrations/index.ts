/**
 * Every change of the tables, in order, as a literal list: a release adds an entry and never edits one that was
 * released. What SQLite and PostgreSQL have no common name for, the dialect names.
 */
import type { Migration } from 'kysely'
import type { ColumnTypes } from '../dialect.js'
import { keys } from './001-keys.js'
import { reviews } from './002-reviews.js'
import { audit } from './003-audit.js'
import { constitutions } from './004-constitutions.js'
import { auditChain } from './005-audit-chain.js'
import { usage } from './006-usage.js'
import { reviewWork } from './007-review-work.js'
import { users } from './008-users.js'
import { exceptions } from './009-exceptions.js'
import { metrics } from './010-metrics.js'
import { reviewHistory } from './011-review-history.js'
import { journals } from './012-journals.js'
import { keyConcurrency } from './013-key-concurrency.js'
import { keyDescent } from './014-key-descent.js'
import { reviewBounds } from './014-review-bounds.js'
import { indexes } from './015-indexes.js'

export const migrations: Readonly<Record<string, (types: ColumnTypes) => Migration>> = {
  '001-keys': keys,
  '002-reviews': reviews,
  '003-audit': audit,
  '004-constitutions': constitutions,
  '005-audit-chain': auditChain,
  '006-usage': usage,
  '007-review-work': reviewWork,
  '008-users': users,
  '009-exceptions': exceptions,
  '010-metrics': metrics,
  '011-review-history': reviewHistory,
  '012-journals': journals,
  '013-key-concurrency': keyConcurrency,
  '014-key-descent': keyDescent,
  '014-review-bounds': reviewBounds,
  '015-indexes': indexes
}
