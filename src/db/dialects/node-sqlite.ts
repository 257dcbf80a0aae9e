import { closeSync, fdatasync, openSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { InvalidParameterValue, TemporaryFailure } from '../../errors/base.ts'
import { sleep } from '../retry.ts'

export interface SqliteSettings {
  /** absent: in memory */
  readonly file?: string
  /** `[database]sqlite_synchronous`: false gives up safety against power loss */
  readonly synchronous: boolean
  /** how long a statement waits for another process that holds the file, in ms */
  readonly maxWait: number
}

const statementsKept = 500
/** A transaction that takes longer than this holds everybody up: a defect of its owner. */
const writerTimeout = 60_000

/** What a statement did: its rows, or how many rows it found. */
export interface Outcome {
  readonly rows: unknown[]
  readonly found: number | bigint
  readonly insertId?: number | bigint
}

interface Prepared {
  readonly statement: StatementSync
  readonly givesRows: boolean
}

/** One `DatabaseSync` with its prepared statements. */
class Session {
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, Prepared>()

  constructor(file: string | undefined) {
    this.#database = new DatabaseSync(file ?? ':memory:', {
      // real Ironic runs with foreign keys off on SQLite
      enableForeignKeyConstraints: false,
      // node:sqlite sleeps on the event loop; longer waits are ours (`patiently`)
      timeout: 5,
    })
    // KiB, taken when needed: the rows of some thousand nodes
    this.#database.exec('PRAGMA cache_size = -8192')
  }

  exec(sql: string): void {
    this.#database.exec(sql)
  }

  execute(sql: string, parameters: readonly unknown[]): Outcome {
    const { statement, givesRows } = this.#prepare(sql)
    const values = parameters as SQLInputValue[]
    if (givesRows) {
      const rows = allRows(statement, values)
      return { rows, found: rows.length }
    }
    const { changes, lastInsertRowid } = statement.run(...values)
    return { rows: [], found: changes, insertId: lastInsertRowid }
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction
  }

  close(): void {
    this.#statements.clear()
    this.#database.close()
  }

  #prepare(sql: string): Prepared {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#database.prepare(sql)
    const prepared = { statement, givesRows: statement.columns().length > 0 }
    if (this.#statements.size >= statementsKept) {
      const [oldest] = this.#statements.keys()
      this.#statements.delete(oldest!)
    }
    this.#statements.set(sql, prepared)
    return prepared
  }
}

function allRows(statement: StatementSync, values: readonly SQLInputValue[]): unknown[] {
  try {
    return statement.all(...values)
  } catch (error) {
    // an integer that a double cannot hold: as near as it gets
    if ((error as { code?: string }).code !== 'ERR_OUT_OF_RANGE') throw error
    statement.setReadBigInts(true)
    const rows = statement.all(...values)
    statement.setReadBigInts(false)
    for (const row of rows)
      for (const [name, value] of Object.entries(row)) if (typeof value === 'bigint') row[name] = Number(value)
    return rows
  }
}

/** SQLITE_BUSY and SQLITE_LOCKED: another process writes; nothing of ours was done. */
const isBusy = (error: unknown): boolean => {
  const code = (error as { errcode?: number } | null)?.errcode
  return code !== undefined && ((code & 0xff) === 5 || (code & 0xff) === 6)
}

/** One writer at a time, in order of arrival. */
class WriterQueue {
  #last: Promise<void> = Promise.resolve()
  #waiting = 0

  get isFree(): boolean {
    return this.#waiting === 0
  }

  /** Resolves when it is the caller's turn; the caller then calls the function that it got. */
  async enter(): Promise<() => void> {
    const before = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    this.#waiting += 1
    const leave = () => {
      this.#waiting -= 1
      resolve()
    }
    if (this.#waiting === 1) return leave
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>((settle) => {
      timer = setTimeout(() => settle('late'), writerTimeout)
      timer.unref()
    })
    const first = await Promise.race([before, late])
    clearTimeout(timer)
    if (first === 'late') {
      // our place in the queue passes to the next as soon as it comes up
      void before.then(leave)
      throw new TemporaryFailure(
        `The database was busy with one transaction for ${writerTimeout / 1000} seconds; try again.`,
      )
    }
    return leave
  }
}

/**
 * Brings what was committed to the disk shortly afterwards, many commits at once. SQLite could do it in each commit, but would block
 * the event loop for as long as the disk takes. A crash of the process loses nothing either way; a power failure at most `delay`.
 */
class LogFlusher {
  readonly #descriptor: number
  #timer: NodeJS.Timeout | undefined
  #failure: Error | undefined
  static readonly delay = 100

  constructor(log: string) {
    this.#descriptor = openSync(log, 'r')
  }

  /** @throws TemporaryFailure when an earlier flush failed: the disk is in trouble, and nothing more must be promised */
  check(): void {
    const cause = this.#failure
    if (cause === undefined) return
    this.#failure = undefined
    throw new TemporaryFailure(`The disk of the database does not take what is written: ${cause.message}`, { cause })
  }

  committed(): void {
    this.#timer ??= setTimeout(() => this.#flush(), LogFlusher.delay).unref()
  }

  #flush(): void {
    fdatasync(this.#descriptor, (error) => {
      this.#timer = undefined
      if (error !== null && this.#open) this.#failure = error
    })
  }

  #open = true

  close(): void {
    this.#open = false
    clearTimeout(this.#timer)
    closeSync(this.#descriptor)
  }
}

/**
 * The databases of one SQLite file: a session for reading, which never sees half a transaction, and one for writing behind a queue,
 * so that "database is locked" cannot come from ourselves. WAL lets readers of other processes go on while we write.
 */
export class SqliteSessions {
  readonly writer: Session
  /** for reads while a transaction is open */
  readonly #reader: Session
  readonly queue = new WriterQueue()
  readonly #maxWait: number
  #flusher: LogFlusher | undefined

  private constructor(settings: SqliteSettings) {
    this.#maxWait = settings.maxWait
    this.writer = new Session(settings.file)
    this.#reader = settings.file === undefined ? this.writer : new Session(settings.file)
  }

  /** @throws InvalidParameterValue for a file that cannot be opened or is something else @throws TemporaryFailure */
  static async open(settings: SqliteSettings): Promise<SqliteSessions> {
    const { file, synchronous } = settings
    let sessions: SqliteSessions | undefined
    try {
      const opened = (sessions = new SqliteSessions(settings))
      // another process may be writing at this moment
      if (file !== undefined) opened.#flusher = await opened.patiently(() => opened.#openLog(file, synchronous))
      return opened
    } catch (cause) {
      sessions?.close()
      if (cause instanceof TemporaryFailure) throw cause
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new InvalidParameterValue(
        `[database]connection: the SQLite file ${file ?? 'in memory'} cannot be used: ${reason}. Its folder must exist and be writable for this user.`,
        { cause },
      )
    }
  }

  /** On file systems that cannot do WAL (network mounts) SQLite goes on with its rollback journal, and writes it through itself. */
  #openLog(file: string, synchronous: boolean): LogFlusher | undefined {
    const [mode] = this.writer.execute('PRAGMA journal_mode = WAL', []).rows as { journal_mode: string }[]
    const hasLog = mode?.journal_mode === 'wal'
    this.writer.exec(`PRAGMA synchronous = ${synchronous ? (hasLog ? 'NORMAL' : 'FULL') : 'OFF'}`)
    if (!hasLog || !synchronous) return undefined
    // the log appears with the first transaction
    this.writer.exec('BEGIN IMMEDIATE; COMMIT')
    return new LogFlusher(`${file}-wal`)
  }

  /** Reads what is committed. The writer knows what it wrote: while nothing is open, its page cache is the better one. */
  async read(sql: string, parameters: readonly unknown[]): Promise<unknown[]> {
    const session = this.writer.inTransaction ? this.#reader : this.writer
    return (await this.patiently(() => session.execute(sql, parameters))).rows
  }

  /** A change of its own, in its turn. */
  async change(sql: string, parameters: readonly unknown[]): Promise<Outcome> {
    this.check()
    // nobody waits and nothing is open: what is done before anybody else can run needs no queue
    const outcome = this.queue.isFree ? this.#attempt(sql, parameters) : undefined
    if (outcome !== undefined) return outcome
    const leave = await this.queue.enter()
    try {
      return await this.patiently(() => this.#write(sql, parameters))
    } finally {
      leave()
    }
  }

  #write(sql: string, parameters: readonly unknown[]): Outcome {
    const outcome = this.writer.execute(sql, parameters)
    this.committed()
    return outcome
  }

  /** Undefined when another process holds the file. */
  #attempt(sql: string, parameters: readonly unknown[]): Outcome | undefined {
    try {
      return this.#write(sql, parameters)
    } catch (error) {
      if (!isBusy(error)) throw error
      return undefined
    }
  }

  /** Before every change. @throws TemporaryFailure when the disk is in trouble */
  check(): void {
    this.#flusher?.check()
  }

  /** After every commit. */
  committed(): void {
    this.#flusher?.committed()
  }

  /** Runs `action`, again and again while another process holds the file. */
  async patiently<T>(action: () => T): Promise<T> {
    const end = Date.now() + this.#maxWait
    for (let pause = 2; ; pause = Math.min(pause * 2, 100)) {
      try {
        return action()
      } catch (error) {
        if (!isBusy(error)) throw error
        if (Date.now() + pause > end)
          throw new TemporaryFailure(
            `Another process kept the database locked for ${this.#maxWait / 1000} seconds; try again.`,
            { cause: error },
          )
        await sleep(pause * (0.5 + Math.random()))
      }
    }
  }

  close(): void {
    this.#flusher?.close()
    if (this.#reader !== this.writer) this.#reader.close()
    this.writer.close()
  }
}

const reads = /^\s*(?:select|with|explain|pragma\s+\w+\s*(?:\(|$))/i

const isRead = (query: CompiledQuery): boolean =>
  query.query.kind === 'SelectQueryNode' || (query.query.kind === 'RawNode' && reads.test(query.sql))

const resultOf = ({ rows, found, insertId }: Outcome): QueryResult<never> =>
  insertId === undefined
    ? { rows: rows as never[] }
    : { rows: [], numAffectedRows: BigInt(found), insertId: BigInt(insertId) }

/** What Kysely takes for a connection: reads go to the reader, lone writes queue, a transaction keeps its place in the queue. */
class SqliteConnection implements DatabaseConnection {
  readonly #sessions: SqliteSessions
  #leave: (() => void) | undefined

  constructor(sessions: SqliteSessions) {
    this.#sessions = sessions
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { sql, parameters } = query
    if (this.#leave !== undefined) return resultOf(this.#sessions.writer.execute(sql, parameters))
    if (isRead(query)) return { rows: (await this.#sessions.read(sql, parameters)) as R[] }
    return resultOf(await this.#sessions.change(sql, parameters))
  }

  async begin(): Promise<void> {
    const leave = await this.#sessions.queue.enter()
    try {
      this.#sessions.check()
      await this.#sessions.patiently(() => this.#sessions.writer.exec('BEGIN IMMEDIATE'))
    } catch (error) {
      leave()
      throw error
    }
    this.#leave = leave
  }

  /** `COMMIT` or `ROLLBACK`. */
  async end(statement: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    try {
      if (statement === 'COMMIT' || this.#sessions.writer.inTransaction)
        await this.#sessions.patiently(() => this.#sessions.writer.exec(statement))
      if (statement === 'COMMIT') this.#sessions.committed()
    } catch (error) {
      // a failed COMMIT leaves the transaction open: it must not swallow the next one
      if (this.#sessions.writer.inTransaction) this.#sessions.writer.exec('ROLLBACK')
      throw error
    } finally {
      this.#leave?.()
      this.#leave = undefined
    }
  }

  // oxlint-disable-next-line require-yield -- part of the interface; rows of SQLite are read at once
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('SQLite rows are not streamed; page through them')
  }
}

class SqliteDriver implements Driver {
  readonly #sessions: SqliteSessions
  constructor(sessions: SqliteSessions) {
    this.#sessions = sessions
  }
  async init() {}
  async acquireConnection() {
    return new SqliteConnection(this.#sessions)
  }
  async beginTransaction(connection: SqliteConnection) {
    await connection.begin()
  }
  async commitTransaction(connection: SqliteConnection) {
    await connection.end('COMMIT')
  }
  async rollbackTransaction(connection: SqliteConnection) {
    await connection.end('ROLLBACK')
  }
  async releaseConnection() {}
  async destroy() {}
}

/** Kysely would otherwise let a read wait for the end of every transaction; our readers have a session of their own. */
class ParallelAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

/** Kysely on `node:sqlite`. The sessions are closed by who opened them. */
export const nodeSqliteDialect = (sessions: SqliteSessions): Dialect => ({
  createDriver: () => new SqliteDriver(sessions),
  createQueryCompiler: () => new SqliteQueryCompiler(),
  createAdapter: () => new ParallelAdapter(),
  createIntrospector: (db) => new SqliteIntrospector(db),
})
