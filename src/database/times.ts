import { type RawBuilder, sql } from 'kysely';

/** A time in milliseconds since 1970 as a timestamp. */
export const instant = (time: number): RawBuilder<Date> => sql`to_timestamp(${time}::float8 / 1000)`;

/** The beginning of the span of `stepMs` that the time in `column` is in, in milliseconds since 1970. */
export const spanOf = (column: RawBuilder<unknown>, stepMs: number): RawBuilder<number> =>
  sql`(floor(date_part('epoch', ${column}) * 1000 / ${stepMs}::float8) * ${stepMs}::float8)::bigint`;
