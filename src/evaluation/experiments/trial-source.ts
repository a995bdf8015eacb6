import { agentCalls, type PinnedAgent } from '../../agents/index.ts';
import type { DataFrames } from '../../data-frames/index.ts';
import type { Executor } from '../../database/index.ts';
import type { Services } from '../../feature.ts';
import { type FileBytes, waitingFolder } from '../../files/index.ts';
import { sha256 } from '../../lib/crypto.ts';
import { messageOf } from '../../lib/errors.ts';
import { rfc8785 } from '../../lib/rfc8785.ts';
import { noRunUsage } from '../../lib/usage.ts';
import type { AskedModel } from '../../llm-configurations/index.ts';
import {
  type OpenedTools,
  type Run,
  RunEnded,
  type Runtime,
  runtimeCalls,
  submitResultName,
  type WorkSource,
} from '../../runtime/index.ts';
import type { Tracing } from '../../telemetry/index.ts';
import { type Grader, gradersOfTrial } from '../../trial-options/index.ts';
import { type CaseContent, caseOwner } from '../cases/content.ts';
import { transcriptOf } from '../cases/transcript.ts';
import { type GradedTrial, type GradingParts, grade, zeroScore } from '../graders/grade.ts';
import type { PatternMatcher } from '../graders/regex.ts';
import { openFrames, trialOwner } from './frames.ts';
import {
  type Outcome,
  type Trial,
  type TrialStatus,
  trialCancelsChannel,
  trialRuns,
  trialsChannel,
} from './kind.ts';
import { type ExperimentRow, findExperiment } from './store.ts';
import { noTracing, recordScores } from './traces.ts';
import { runTrial, type TrialEnd } from './trial-run.ts';
import {
  findRecord,
  listJudgesOf,
  listScores,
  type StoredMessage,
  type StoredScore,
  storeTrial,
  type TrialRecord,
} from './trial-store.ts';

/** The pool of trials of this replica. */

export interface TrialNeeds {
  openTools: Runtime['openTools'];
  frames: DataFrames['forAgents'];
  bytes: FileBytes;
  matcher: PatternMatcher;
  tracing: Tracing;
  /** Opens the model of a judge; null: the default LLM configuration. */
  openJudge(llmId: string | null): Promise<AskedModel>;
  /** The content of one revision of a case; undefined if it is gone. */
  readCase(executor: Executor, caseId: string, revision: number): Promise<CaseContent | undefined>;
  /** A trial ended on this replica. */
  onEnded(outcome: Outcome): void;
}

type ClaimedTrial = Run<TrialStatus> & { trial: Trial };

const hashOf = (grader: Grader): string => sha256(rfc8785(grader));

/** The input of a case as a judge reads it. */
const shownInput = ({ input: { message, payload, history } }: CaseContent): string => {
  const before = history.map(({ role, content }) => {
    const texts = content.map((part) => ('text' in part ? part.text : JSON.stringify(part)));
    return `${role}: ${texts.join(' ')}`;
  });
  return [...before, runtimeCalls.firstUserMessage(message, payload).text].join('\n');
};

const callsOf = (messages: readonly StoredMessage[]) =>
  messages.flatMap(({ role, content }) =>
    role !== 'assistant'
      ? []
      : content.flatMap((part) =>
          part.type === 'tool_call' && part.tool_name !== submitResultName
            ? [{ tool_name: part.tool_name, arguments: part.arguments }]
            : [],
        ),
  );

/** The trial for its graders. */
const gradedOf = (content: CaseContent, record: TrialRecord): GradedTrial => {
  const { tape, expected } = content;
  const recorded = tape === null ? null : callsOf(tape.messages);
  const { usage, duration_ms, result } = record;
  return {
    input: shownInput(content),
    result,
    expected,
    calls: callsOf(record.messages),
    recordedCalls:
      recorded?.map((call) => ({ ...call, arguments: (call.arguments ?? {}) as Record<string, unknown> })) ??
      null,
    tokens: usage.input_tokens + usage.output_tokens,
    seconds: duration_ms / 1_000,
    steps: usage.model_calls,
  };
};

const toRecord = ({ verdict, messages, ...end }: TrialEnd): TrialRecord => {
  const stored = messages.map(
    (message): StoredMessage => ({ role: message.role, content: runtimeCalls.toContent(message) }),
  );
  return {
    verdict: verdict === 'error' ? null : verdict,
    result: end.result,
    error: end.error,
    messages: stored,
    transcript_hash: sha256(transcriptOf(stored)),
    divergences: end.divergences,
    unused_calls: end.unusedCalls,
    usage: end.usage,
    model: end.model,
    duration_ms: end.durationMs,
    score: null,
  };
};

const meanScore = (scores: readonly Pick<StoredScore, 'value'>[]): number | null => {
  const values = scores.flatMap(({ value }) => (value === null ? [] : [value]));
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
};

export const trialSource = (services: Services, needs: TrialNeeds): WorkSource<Trial> => {
  const { db, log, settings, config } = services;

  const hold = (trial: Trial, leaseSeconds: number): ClaimedTrial => {
    const lease = { id: trial.id, fencing: trial.fencing, leaseSeconds };
    const held = runtimeCalls.holdLease(db, log, {
      ...lease,
      beat: (executor) => trialRuns.heartbeat(executor, lease),
    });
    const never = async (): Promise<never> => {
      throw new Error('a trial keeps its attempts in memory');
    };
    return {
      trial,
      id: trial.id,
      agentId: trial.agent_id,
      agentVersion: trial.agent_version,
      conversationId: trial.id,
      createdBy: trial.created_by,
      purpose: 'trial',
      acting: {
        agentId: trial.agent_id,
        agentVersion: trial.agent_version,
        workItemId: null,
        runId: null,
        experimentId: trial.experiment_id,
        scheduleId: null,
        triggerId: null,
      },
      owner: trialOwner(trial.id),
      filesOf: caseOwner(trial.case_id),
      depth: 0,
      attributes: {
        'agent_platform.experiment.id': trial.experiment_id,
        'agent_platform.trial.id': trial.id,
      },
      usage: noRunUsage,
      model: null,
      held,
      store: { open: never, save: never, finish: never },
    };
  };

  const partsOfGrading = ({ held, agentId, owner }: ClaimedTrial): GradingParts => ({
    matcher: needs.matcher,
    openModel: needs.openJudge,
    queryFrames: async (text, limit) => {
      const caller = { owner, agentId, signal: held.signal };
      const { answer } = await needs.frames.query(caller, { sql: text, saveAs: null, limit });
      return { columns: answer.columns.map(({ name }) => name), rows: answer.rows };
    },
    signal: held.signal,
    log,
  });

  /** Scores of graders that the trial which is taken over has already. */
  const keptScores = async (trialId: string): Promise<Map<string, StoredScore>> => {
    const { rows, judges } = await db.run(async (executor) => {
      const rows = await listScores(executor, [trialId]);
      const keys = rows.flatMap(({ judge_key }) => judge_key ?? []);
      return { rows, judges: await listJudgesOf(executor, keys) };
    });
    return new Map(
      rows.map(({ definition_hash, judge_key, grader, type, value, label, explanation }) => {
        const by = judges.find(({ key }) => key === judge_key);
        const judge = by
          ? { key: by.key, rubric: by.rubric, llmId: by.llm_id, model: by.model, votes: by.votes }
          : null;
        const score = { grader, type, value, label, explanation, usage: null, judge };
        return [definition_hash, { ...score, definitionHash: definition_hash }];
      }),
    );
  };

  const gradeAll = async (
    run: ClaimedTrial,
    graders: readonly Grader[],
    content: CaseContent,
    record: TrialRecord,
    kept: ReadonlyMap<string, StoredScore>,
  ): Promise<StoredScore[]> => {
    if (record.verdict === null) return [];
    const parts = partsOfGrading(run);
    const graded = gradedOf(content, record);
    const scores: StoredScore[] = [];
    for (const grader of graders) {
      const definitionHash = hashOf(grader);
      const before = kept.get(definitionHash);
      const fresh = () =>
        record.verdict === 'completed'
          ? grade(grader, graded, parts)
          : zeroScore(grader, `The trial ${record.verdict}.`);
      scores.push(before ?? { ...(await fresh()), definitionHash });
    }
    return scores;
  };

  const runAnew = async (
    run: ClaimedTrial,
    experiment: ExperimentRow,
    content: CaseContent,
    attempt: (run: Run<'ended'>) => Promise<'ended' | null>,
    onTraceparent: (traceparent: string | null) => void,
  ): Promise<TrialRecord> => {
    const agent = await db.run((executor) => agentCalls.getPinned(executor, run.agentId, run.agentVersion));
    const frames = await openFrames(
      { db, bytes: needs.bytes, folder: waitingFolder(config.dataDir) },
      run.id,
      content,
    );
    const isTraced = settings.get().EVALUATION_TRACES;
    const openTools = async (pinned: PinnedAgent, signal: AbortSignal): Promise<OpenedTools> => {
      onTraceparent(isTraced ? needs.tracing.traceparent() : null);
      return needs.openTools(pinned, signal, { discover: false, mayAsk: false });
    };
    const parts = {
      openTools,
      attempt,
      restoreFrame: frames.restore,
      maxAttempts: agent.settings.max_attempts,
    };
    return toRecord(await runTrial(run, content, experiment, parts, isTraced ? undefined : noTracing));
  };

  /** Stores the end under the lease. Returns the status; null if the lease was lost. */
  const finish = (
    run: ClaimedTrial,
    leaseSeconds: number,
    record: TrialRecord,
    scores: readonly StoredScore[],
  ): Promise<TrialStatus | null> =>
    db.tx(async (tx) => {
      const { id, fencing } = run.trial;
      const lease = { id, fencing, leaseSeconds };
      const { alive, cancelRequested } = await trialRuns.heartbeat(tx, lease);
      if (!alive) return null;
      if (cancelRequested)
        return (await trialRuns.finish(tx, { ...lease, status: 'CANCELLED' }))?.status ?? null;
      await storeTrial(tx, id, { ...record, score: meanScore(scores) }, scores);
      const { result, error, usage, model, verdict } = record;
      const status = verdict === null ? 'ERROR' : 'COMPLETED';
      const ended = await trialRuns.finish(tx, {
        ...lease,
        status,
        result: result ?? null,
        error,
        usage,
        model,
      });
      return ended?.status ?? null;
    });

  /** Ends a trial whose claim ended before it did. */
  const abandon = (run: ClaimedTrial, { reason }: RunEnded): Promise<TrialStatus | null> =>
    db.tx(async (tx) => {
      const { id, fencing } = run.trial;
      if (reason === 'stopped') return (await trialRuns.release(tx, { id, fencing }))?.status ?? null;
      if (reason !== 'cancelled') return null;
      return (await trialRuns.finish(tx, { id, fencing, status: 'CANCELLED' }))?.status ?? null;
    });

  const perform = async (
    run: ClaimedTrial,
    attempt: (run: Run<'ended'>) => Promise<'ended' | null>,
  ): Promise<TrialStatus | null> => {
    const { trial, held } = run;
    const leaseSeconds = settings.get().WORK_ITEM_LEASE_SECONDS;
    let traceparent: string | null = null;
    try {
      const { experiment, content } = await db.run(async (executor) => ({
        experiment: await findExperiment(executor, trial.experiment_id),
        content: await needs.readCase(executor, trial.case_id, trial.case_revision),
      }));
      if (!experiment || !content) throw new Error('the experiment or the content of its case is gone');
      const graders = gradersOfTrial(experiment.graders, content.graders);
      const { reused_from: from } = trial;
      const before = from === null ? undefined : await db.run((executor) => findRecord(executor, from));
      const kept = before ? await keptScores(from!) : new Map();
      const record =
        before ?? (await runAnew(run, experiment, content, attempt, (given) => (traceparent ??= given)));
      const scores = await gradeAll(run, graders, content, record, kept);
      held.signal.throwIfAborted();
      const status = await finish(run, leaseSeconds, record, scores);
      if (traceparent !== null && status === 'completed') {
        await recordScores(needs.tracing, scores, {
          traceparent,
          agentId: trial.agent_id,
          withContent: settings.get().CAPTURE_MESSAGE_CONTENT,
          attributes: run.attributes,
        });
      }
      if (status === 'completed' && record.verdict !== null) needs.onEnded(record.verdict);
      return status;
    } catch (error) {
      const ended = held.signal.aborted ? (held.signal.reason as unknown) : error;
      if (ended instanceof RunEnded) return abandon(run, ended);
      log.error({ run_id: run.id, error: messageOf(error) }, 'a trial failed');
      const message = 'Something went wrong on our side; the logs say what, under the id of the trial.';
      const { id, fencing } = trial;
      const failure = { id, fencing, status: 'ERROR', error: { code: 'internal_error', message } } as const;
      return (
        (await db.tx((tx) => trialRuns.finish(tx, { ...failure, unlessCancelled: true })))?.status ?? null
      );
    } finally {
      held.release();
    }
  };

  return {
    name: 'trials',
    runs: trialRuns,
    channel: trialsChannel,
    cancelsChannel: trialCancelsChannel,
    limit: () => settings.get().MAX_CONCURRENT_TRIALS,
    hold,
    perform: (run, attempt) => perform(run as ClaimedTrial, attempt),
    onFinished: (status) => {
      if (status === 'error' || status === 'cancelled') needs.onEnded(status);
    },
  };
};
