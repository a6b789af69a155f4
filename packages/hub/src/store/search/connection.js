import Database from "libsql"
import { keepPrivate } from "./private-file.js"

/**
 * A connection of the search thread's own. Statements are prepared once, by their text; one that failed is prepared anew, since the
 * driver may tell its error again. Somebody must close it.
 */
export class Connection {
  #database
  /** @type {Map<string, import("libsql").Statement>} */
  #statements = new Map()

  /** @param {string} file @param {string} settings */
  constructor(file, settings) {
    keepPrivate(file)
    this.#database = new Database(file)
    try {
      this.#database.exec(settings)
    } catch (error) {
      this.#database.close()
      throw error
    }
  }

  /** @param {string} sql */
  exec(sql) {
    this.#database.exec(sql)
  }

  /** @param {string} sql @param {readonly unknown[]} values */
  run(sql, values) {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      this.#statements.set(sql, statement)
    }
    try {
      statement.run(values)
    } catch (error) {
      this.#statements.delete(sql)
      throw error
    }
  }

  /**
   * @param {string} sql
   * @param {readonly unknown[]} values
   * @returns {readonly (readonly unknown[])[]}
   */
  rows(sql, values = []) {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql).raw()
      this.#statements.set(sql, statement)
    }
    try {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `raw` makes rows arrays
      return /** @type {unknown[][]} */ (statement.all(values))
    } catch (error) {
      this.#statements.delete(sql)
      throw error
    }
  }

  /** @param {string} sql @param {readonly unknown[]} values @returns {readonly unknown[]} */
  first(sql, values = []) {
    return this.rows(sql, values)[0] ?? []
  }

  close() {
    this.#statements.clear()
    this.#database.close()
  }
}
