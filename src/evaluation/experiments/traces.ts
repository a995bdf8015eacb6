import { INVALID_SPAN_CONTEXT, trace } from '@opentelemetry/api';
import type { Run } from '../../runtime/index.ts';
import type { Tracing } from '../../telemetry/index.ts';
import type { Score } from '../graders/grade.ts';

const noSpan = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

/** Tracing that records nothing: trials have no traces unless EVALUATION_TRACES is on. */
export const noTracing: Tracing = {
  withSpan: async (_name, _options, fn) => fn(noSpan),
  ended: () => {},
  traceId: () => null,
  traceparent: () => null,
};

/**
 * Records each score as a span below the trial's, with the event of the conventions: only spans are delivered. The
 * explanation may quote the output, so that it is content.
 */
export const recordScores = async (
  tracing: Tracing,
  scores: readonly Score[],
  {
    traceparent,
    agentId,
    withContent,
    attributes,
  }: {
    traceparent: string;
    agentId: string;
    withContent: boolean;
    attributes: Run<unknown>['attributes'];
  },
): Promise<void> => {
  for (const { grader, value, label, explanation } of scores) {
    await tracing.withSpan(`evaluate ${grader}`, { agentId, traceparent, attributes }, (span) => {
      span.addEvent('gen_ai.evaluation.result', {
        'gen_ai.evaluation.name': grader,
        ...(value === null ? {} : { 'gen_ai.evaluation.score.value': value }),
        ...(label === null ? {} : { 'gen_ai.evaluation.score.label': label }),
        ...(withContent && explanation !== null ? { 'gen_ai.evaluation.explanation': explanation } : {}),
      });
    });
  }
};
