import { messageOf } from '../lib/errors.ts';
import { Mutex, Semaphore } from '../lib/semaphore.ts';
import { storable } from '../lib/storable.ts';
import { addUsage } from '../lib/usage.ts';
import type { NewApproval } from '../runs/index.ts';
import { givenInput } from '../tool-inputs/index.ts';
import { type Attempt, save } from './attempt.ts';
import { orAborted, RunEnded } from './lease.ts';
import { type Message, openCalls, type ToolCall } from './messages.ts';
import type { RunOutcome, StepRecord, UnsafeCall } from './run-store.ts';
import { failSpan, toolContentAttributes, toolSpan } from './spans.ts';
import { inputRequests, inputStateOf, type Plan, planCalls, questionOf } from './tool-plan.ts';
import type { ToolResult } from './tools.ts';

/** Longer tool results are cut: they would be sent to the model again with every step. */
const maxToolText = 200_000;

type Made = Plan & { kind: 'make' };

const callTool = async (attempt: Attempt, { call, tool, args, input }: Made): Promise<ToolResult> => {
  const { run, log } = attempt;
  const { signal } = run.held;
  const { id: runId, agentId, depth, owner, filesOf } = run;
  const context = { runId, agentId, depth, owner, filesOf, signal, callId: call.id };
  const given = input && { input: givenInput(input) };
  try {
    return await orAborted(tool.call(args, { ...context, ...given }), signal);
  } catch (error) {
    signal.throwIfAborted();
    // The message of an unknown error may hold what no one should read.
    log.warn({ run_id: run.id, tool: call.name, error: messageOf(error) }, 'a tool call failed');
    return { text: 'The tool failed.', isError: true };
  }
};

const executeTool = (attempt: Attempt, plan: Made): Promise<{ result: ToolResult; step: StepRecord }> => {
  const call = { ...plan.call, arguments: plan.args };
  const { name, options } = toolSpan(attempt.run, call);
  const beganAt = performance.now();
  return attempt.tracing.withSpan(name, options, async (span) => {
    try {
      attempt.usage.tool_calls++;
      const result = await callTool(attempt, plan);
      if (result.usage) Object.assign(attempt.usage, addUsage(attempt.usage, result.usage));
      const whole = storable(result.text);
      const text = whole.length <= maxToolText ? whole : `${storable(whole.slice(0, maxToolText))} [cut]`;
      const failed = result.isError === true || result.outcomeUnknown === true;
      if (failed) failSpan(span, 'tool_error');
      if (attempt.captureContent) span.setAttributes(toolContentAttributes(call, text));
      const step: StepRecord = {
        kind: 'tool',
        spanId: null,
        charges: [],
        name: call.name,
        status: failed ? 'error' : 'ok',
        beganAt,
        endedAt: performance.now(),
        error: failed ? 'tool_error' : null,
        model: null,
        tokens: null,
        message: null,
        notes: null,
      };
      return { result: { ...result, text }, step };
    } catch (error) {
      failSpan(span, error instanceof RunEnded ? error.reason : 'internal_error');
      throw error;
    }
  });
};

const toolMessage = (call: ToolCall, text: string, isError: boolean, executed?: Made): Message => ({
  role: 'tool',
  tool_call_id: call.id,
  tool_name: call.name,
  text,
  is_error: isError,
  ...(executed?.edited ? { executed_arguments: executed.args } : {}),
});

const isUnsafe = (plan: Made): plan is Made & { request: UnsafeCall } => !plan.tool.idempotent;

/** Causes that end the attempt after its calls: questions to people, or a tool server that refuses access. */
interface Ended {
  /** Message of the first tool server that refused access. */
  unauthorized: string | null;
  unknown: NewApproval[];
  questions: NewApproval[];
  /** What tools ask people for. */
  inputs: NewApproval[];
  /** The results of the calls that ask: stored together with what they ask. */
  results: Message[];
}

/** Makes the calls side by side, and stores each result as it comes. */
const makeCalls = async (attempt: Attempt, plans: readonly Made[]): Promise<Ended> => {
  const ended: Ended = { unauthorized: null, unknown: [], questions: [], inputs: [], results: [] };
  const limit = new Semaphore(attempt.limits.tool_concurrency);
  // Results are stored one after the other, so that the stored order is that of this attempt.
  const storing = new Mutex();
  const open = new Map(plans.filter(isUnsafe).map(({ call, request }) => [call.id, request]));
  const make = async (plan: Made): Promise<void> => {
    const { signal } = attempt.run.held;
    signal.throwIfAborted();
    const { result, step } = await executeTool(attempt, plan);
    if (result.outcomeUnknown) {
      attempt.steps.push(step);
      ended.unknown.push(plan.request);
      return;
    }
    if (result.input) {
      const state = inputStateOf(plan, result.input);
      ended.inputs.push(...inputRequests(state, plan.call, plan.tool));
      await storing.run(async () => {
        // Nothing is in flight any more: whoever goes on with the run asks again, and calls no tool before.
        const wasUnsafe = open.delete(plan.call.id);
        await save(attempt, {
          messages: [],
          steps: [step],
          inputs: new Map([[plan.call.id, state]]),
          ...(wasUnsafe ? { unsafeCalls: [...open.values()] } : {}),
        });
      });
      return;
    }
    ended.unauthorized ??= result.unauthorized ?? null;
    const message = toolMessage(plan.call, result.text, result.isError ?? false, plan);
    if (result.review !== undefined) {
      attempt.steps.push(step);
      ended.questions.push(questionOf(plan, result.review));
      ended.results.push(message);
      return;
    }
    await storing.run(async () => {
      const wasUnsafe = open.delete(plan.call.id);
      await save(attempt, {
        messages: [message],
        steps: [{ ...step, message: 0 }],
        ...(plan.input ? { endedInputs: [plan.call.id] } : {}),
        ...(wasUnsafe ? { unsafeCalls: [...open.values()] } : {}),
      });
    });
  };
  // All of them end before the attempt does: none works on while another worker continues.
  const calls = await Promise.allSettled(plans.map((plan) => limit.run(() => make(plan))));
  for (const end of calls) if (end.status === 'rejected') throw end.reason;
  // People see what they decide in the order of the reply, not in that of the answers.
  const order = new Map(plans.map(({ call }, i) => [call.id, i]));
  const inOrder = (a: NewApproval, b: NewApproval) =>
    order.get(a.tool_call_id!)! - order.get(b.tool_call_id!)!;
  ended.unknown.sort(inOrder);
  ended.inputs.sort(inOrder);
  return ended;
};

const outcomeOf = (
  { unauthorized, unknown, questions, inputs: asking, ...asked }: Ended,
  plans: readonly Plan[],
): RunOutcome | null => {
  const heldBack = plans.flatMap((plan) =>
    plan.kind === 'hold_back' ? [toolMessage(plan.call, plan.text, true)] : [],
  );
  const results = [...asked.results, ...heldBack];
  const inputs = [...asking, ...plans.flatMap((plan) => (plan.kind === 'ask_input' ? plan.requests : []))];
  if (unknown.length > 0) {
    const names = unknown.map(({ tool_name }) => tool_name).join(', ');
    const message = `There was no answer to a call that must not be repeated (${names}): whether it took effect is not known.`;
    return {
      status: 'INDETERMINATE',
      error: { code: 'tool_outcome_unknown', message },
      approvals: [...unknown, ...questions, ...inputs],
      messages: results,
    };
  }
  if (unauthorized !== null) {
    const error = { code: 'tool_server_unauthorized', message: unauthorized };
    return { status: 'ERROR', error, messages: results };
  }
  const approvals = [
    ...questions,
    ...inputs,
    ...plans.flatMap((plan) => (plan.kind === 'ask' ? [plan.request] : [])),
  ];
  if (approvals.length > 0) {
    const reasons = approvals.map(({ kind, tool_name, reason }) =>
      kind === 'input' ? `${tool_name} asks for input.` : reason,
    );
    const reason = [...new Set(reasons)].join(' ');
    return { status: 'NEEDS_REVIEW', reason, approvals, messages: results };
  }
  const submitted = plans.find((plan) => plan.kind === 'submit');
  if (!submitted) return null;
  const others = plans.filter((plan) => plan.kind === 'submit' && plan !== submitted);
  return {
    status: 'COMPLETED',
    result: submitted.result,
    messages: [
      toolMessage(submitted.call, 'The result was accepted.', false),
      ...others.map(({ call }) => toolMessage(call, 'A result was submitted before.', true)),
    ],
  };
};

/**
 * Makes the calls of the last reply that have no result yet: `reply`, which is stored with that, or one of an earlier
 * attempt. Those that need no person run side by side. From the transaction that stores the reply until that of the
 * result, a call that must not be repeated is marked as in flight. Returns how the run ends; null if it goes on.
 */
export const executeCalls = async (
  attempt: Attempt,
  reply: (Message & { role: 'assistant' }) | null,
): Promise<RunOutcome | null> => {
  const calls = reply ? reply.tool_calls : openCalls(attempt.messages);
  if (calls.length === 0) return null;
  if (!reply) attempt.inputs = (await attempt.run.store.inputs?.()) ?? attempt.inputs;
  const plans = planCalls(attempt, calls, reply === null);
  const made = plans.filter((plan) => plan.kind === 'make');
  const refused = plans.flatMap((plan) =>
    plan.kind === 'refuse' ? [toolMessage(plan.call, plan.text, true)] : [],
  );
  const unsafeCalls = made.filter(isUnsafe).map(({ request }) => request);
  const begun = made.map(({ call, args }) => ({ ...call, arguments: args }));
  if (reply) await save(attempt, { messages: [reply, ...refused], unsafeCalls, begun, newReply: true });
  else if (refused.length > 0 || made.length > 0) {
    const endedInputs = plans.flatMap(({ kind, call: { id } }) =>
      kind === 'refuse' && attempt.inputs.has(id) ? [id] : [],
    );
    await save(attempt, { messages: refused, unsafeCalls, begun, endedInputs });
  }
  return outcomeOf(await makeCalls(attempt, made), plans);
};
