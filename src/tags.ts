/** What the OpenAPI documents say of each group of operations. */
export const tags: Readonly<Record<string, string>> = {
  Agents: 'Worker agents carry out Work Items; conversational agents talk.',
  Schedules: 'A schedule creates Work Items for a Worker agent on a cron cadence, exactly one an occurrence.',
  'Work Items': 'What a Worker agent has to do, is doing or has done.',
  Observability: 'Where traces go: tracing backends, and which agents each of them is for.',
  Telemetry: 'Traces of any OpenTelemetry SDK, taken in and passed on to the integrations.',
  'LLM configurations': 'The language models that agents use.',
  'API keys': 'Keys act with a role: a service account’s own, or its person’s.',
  'Advanced settings': 'Limits and retention, effective at once on every replica.',
  'Audit log': 'Who changed what, append-only and hash-chained.',
};
