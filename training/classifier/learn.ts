/** What is learnt of rows in numbers: the weights, and what sources say that these had not seen. */
import { calibrate } from './calibrate.js'
import type { Dataset } from './dataset.js'
import { fit } from './fit.js'
import { crossValidate, type FitPlan, positiveWeights, scoreKeptBack, sharesOf } from './folds.js'
import { reportOf, screenCurve } from './report.js'

/** Rows of a source that cross-validation uses. */
export const validated = 1200

export function learn(data: Dataset, plan: FitPlan, print: (line: string) => void, most = validated) {
  const held = crossValidate(data, plan, most, (fold, epoch, loss) =>
    print(`  fold ${fold + 1}, epoch ${epoch + 1}: mean error ${loss.toFixed(4)}`)
  )
  const calibration = calibrate(data, held.scores, held.rows)
  const share = sharesOf(data.rows)
  const options = {
    ...plan,
    share,
    positive: positiveWeights(data, share),
    progress: (epoch: number, loss: number) => print(`  epoch ${epoch + 1}: mean error ${loss.toFixed(4)}`)
  }
  const weights = fit(data, options)
  const curve = screenCurve(data, held, calibration)
  const keptBack = screenCurve(data, scoreKeptBack(data, weights, options), calibration)
  return { weights, calibration, report: reportOf(data, held), curve, keptBack }
}
