import { SpanKind } from '@opentelemetry/api';
import type { Database } from './database/index.ts';
import type { Tracing } from './telemetry/index.ts';

/**
 * Makes a span of each database statement.
 * https://opentelemetry.io/docs/specs/semconv/database/database-spans/
 */
export const traceStatements = (db: Database, tracing: Tracing): void =>
  db.onStatement(({ text, milliseconds, failure }) => {
    // A comment before the verb says how the statement is planned.
    const verb = /^(?:\/\*.*?\*\/)?\s*(\w+)/.exec(text)?.[1]?.toUpperCase() ?? 'SQL';
    const attributes = { 'db.system.name': 'postgresql', 'db.query.text': text };
    tracing.ended(verb, milliseconds, { kind: SpanKind.CLIENT, attributes }, failure);
  });
