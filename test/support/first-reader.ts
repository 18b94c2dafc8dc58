/**
 * What is added to the environment of a started program by tests of all that stands around the verdict: its phrases say what
 * is stopped, and no memory or time goes to the encoder. Verdicts as they are out of the box: `test/e2e/readers.test.ts`.
 */
export const firstReaderAlone = { SLUICEGATE_ENCODER: 'off' } as const
