/**
 * SQL that is written from trees that were checked. No text of a caller is ever sent: `print` knows every node
 * and every function of the list, and what has no printer cannot run.
 *
 *     parseSelect(text)            → Query        what an agent or a user wrote; names are not resolved
 *     parseExpression(text)        → Expression   a field or metric of a model
 *     resolve(query, tables)       → Resolved     names found, types known; only this can be printed
 *     print(resolved, engine, {limit}) → {sql, parameters}
 *
 * All four are pure and synchronous, and throw SqlRefusal for what is not accepted (`details`: reason, name, position in
 * characters from 1, suggestions). Code builds trees too: `build.ts` has a function for each common node.
 *
 * Tables. A `Table` is what users may name: a dataset of a model, or a data frame.
 *   - `source` is the table of the database, printed with its schema (`main` on SQLite and for data frames).
 *   - `columns` are all the columns there are. A column with an `expression` (a field) makes the table a WITH query,
 *     `WITH "orders" AS (SELECT expr AS "field" … FROM "public"."orders")`, of the columns that are used. Columns of the
 *     expression are those of the source; their datatypes are taken from the fields that are nothing but a column.
 *   - Without any expression the source is read directly.
 * Names are found without case. PostgreSQL cuts names at 63 bytes; so is a longer name of a table when it is compared.
 *
 * Printed statements rely on the session: `sessions.ts` has its settings for each engine. Parameters are sent in order,
 * `$1` on PostgreSQL and data frames, `?` on MySQL and SQLite; they are strings (text, dates, decimals), numbers and
 * booleans (1 and 0 on MySQL and SQLite), never null.
 *
 * Rows as drivers give them: columns are in the order of `resolved.columns`, whose `datatype` is null when it is not
 * known. Booleans are 1 and 0 on MySQL and SQLite. On SQLite a Date is `YYYY-MM-DD`, a DateTime or DateTimeTz is
 * `YYYY-MM-DD HH:MM:SS.SSS` in UTC, a Time is `HH:MM:SS.SSS`.
 */
export * as build from './build.ts';
export { type Engine, engineNames, engines } from './engines.ts';
export { matching } from './names.ts';
export { nearest } from './nearest.ts';
export { parseExpression, parseSelect } from './parse/query.ts';
export { print } from './print/query.ts';
export type { Parameter, Printed } from './print/writer.ts';
export { expressionsIn, mapChildren } from './rebuild.ts';
export { notSupported, type RefusalReason, SqlRefusal } from './refusal.ts';
export { typeOfField } from './resolve/datasets.ts';
export { resolve } from './resolve/query.ts';
export type { Source, Table, TableColumn } from './resolved.ts';
export { sessionStatements } from './sessions.ts';
export type { Expression, From, Query } from './tree.ts';
export { type Datatype, datatypes } from './types.ts';
