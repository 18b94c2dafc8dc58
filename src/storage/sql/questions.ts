/** Questions to people, and operators' texts, in SQL. */
import { storageCall } from '../contracts/failure.js'
import type { QuestionRow, QuestionStore, TextsStore } from '../contracts/questions.js'
import type { Write } from './database.js'
import type { Database, QuestionColumns } from './tables.js'

function fromQuestion({ topics, turns, ...same }: QuestionRow): QuestionColumns {
  return { ...same, topics: JSON.stringify(topics), turns: JSON.stringify(turns) }
}

function toQuestion({ topics, turns, ...same }: QuestionColumns): QuestionRow {
  return { ...same, topics: JSON.parse(topics), turns: JSON.parse(turns) }
}

export function createSqlQuestions(db: Database, write: Write): QuestionStore {
  return {
    ask: (row, most) =>
      write(async (db) => {
        await db.deleteFrom('questions').where('expiresAt', '<=', row.askedAt).execute()
        await db.deleteFrom('questions').where('questionId', '=', row.questionId).execute()
        const over = await db
          .selectFrom('questions')
          .select('questionId')
          .where('lineage', '=', row.lineage)
          .orderBy('askedAt', 'desc')
          .orderBy('questionId', 'desc')
          .limit(1000)
          .offset(Math.max(0, most - 1))
          .execute()
        for (const { questionId } of over) {
          await db.deleteFrom('questions').where('questionId', '=', questionId).execute()
        }
        await db.insertInto('questions').values(fromQuestion(row)).execute()
      }, `question ${row.lineage}`),

    find: (questionIds, now) =>
      storageCall(async () => {
        if (questionIds.length === 0) return []
        const rows = await db
          .selectFrom('questions')
          .selectAll()
          .where('questionId', 'in', [...questionIds])
          .where('expiresAt', '>', now)
          .execute()
        return rows.map(toQuestion)
      }),

    findByAnswer: (answerId, now) =>
      storageCall(async () => {
        const row = await db
          .selectFrom('questions')
          .selectAll()
          .where('answerId', '=', answerId)
          .where('expiresAt', '>', now)
          .limit(1)
          .executeTakeFirst()
        return row && toQuestion(row)
      }),

    settle: (questionId, { answer, topic, expiresAt }) =>
      write(async (db) => {
        await db
          .updateTable('questions')
          .set({ answer, topic, expiresAt })
          .where('questionId', '=', questionId)
          .where('answer', 'is', null)
          .execute()
        const row = await db.selectFrom('questions').selectAll().where('questionId', '=', questionId).executeTakeFirst()
        return row && toQuestion(row)
      }),

    extend: (questionId, expiresAt) =>
      write(async (db) => {
        await db.updateTable('questions').set({ expiresAt }).where('questionId', '=', questionId).execute()
      })
  }
}

export function createSqlTexts(db: Database, write: Write): TextsStore {
  return {
    get: (account) =>
      storageCall(() => db.selectFrom('texts').selectAll().where('account', '=', account).executeTakeFirst()),

    put: (row) =>
      write(async (db) => {
        const standing = await db
          .selectFrom('texts')
          .select('version')
          .where('account', '=', row.account)
          .executeTakeFirst()
        if ((standing?.version ?? 0) !== row.version - 1) return false
        await db.deleteFrom('texts').where('account', '=', row.account).execute()
        await db.insertInto('texts').values(row).execute()
        return true
      }, `texts ${row.account}`)
  }
}
