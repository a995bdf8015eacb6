import { newId } from '../lib/ids.ts';
import type { AttemptStart, NewApproval } from '../runs/index.ts';
import { type AskedInput, type InputState, isAnswered, refusalOf } from '../tool-inputs/index.ts';
import type { Attempt } from './attempt.ts';
import type { ToolCall } from './messages.ts';
import { submitResultName } from './result.ts';
import type { Tool, WithheldTool } from './tools.ts';

type Args = Record<string, unknown>;

export type Plan =
  /** The call is not made; the model gets this text as its error. */
  | { kind: 'refuse'; call: ToolCall; text: string }
  /** The call is not made and the model gets this text, because a person is asked something first. */
  | { kind: 'hold_back'; call: ToolCall; text: string }
  | {
      kind: 'make';
      call: ToolCall;
      tool: Tool;
      args: Args;
      edited: boolean;
      request: NewApproval;
      /** The call goes on with what people answered. */
      input?: InputState;
    }
  | { kind: 'ask'; call: ToolCall; request: NewApproval }
  /** The call has asked for input that no one has given yet. */
  | { kind: 'ask_input'; call: ToolCall; requests: NewApproval[] }
  /** The call ends the run with this result. */
  | { kind: 'submit'; call: ToolCall; result: Args };

/** The model gets this for a call that may have taken effect and is not made again. */
export const interruptedText =
  'The call was interrupted; whether it took effect is not known. Find out before you repeat it.';

const request = (
  kind: NewApproval['kind'],
  call: ToolCall,
  args: Args,
  tool: WithheldTool | undefined,
  reason: string,
): NewApproval => ({
  approval_id: newId(),
  kind,
  tool_name: call.name,
  tool_server_id: tool?.serverId ?? null,
  arguments: args,
  input_schema: tool?.inputSchema ?? { type: 'object' },
  reason,
  tool_call_id: call.id,
  definition_hash: tool?.definitionHash ?? null,
});

const planApproved = (
  { arguments: args, edited, definition_hash }: AttemptStart['approved'][number],
  call: ToolCall,
  tool: Tool | undefined,
  withheld: WithheldTool | undefined,
): Plan => {
  if (!tool) {
    const reason = `${call.name} cannot be called now: it was removed or denied, or its definition changed and was not accepted.`;
    const asked = request('tool_call', call, args, withheld, reason);
    // Once the definition that the person sees now is accepted, their approval holds.
    return { kind: 'ask', call, request: withheld ? asked : { ...asked, definition_hash } };
  }
  const fault = tool.check(args);
  if (fault !== null) return { kind: 'refuse', call, text: wrongArguments(fault) };
  if (tool.definitionHash !== definition_hash) {
    const reason = `The definition of ${call.name} changed after a person was asked about this call.`;
    return { kind: 'ask', call, request: request('tool_call', call, args, tool, reason) };
  }
  return { kind: 'make', call, tool, args, edited, request: unsafeRequest(call, args, tool) };
};

/** What people are asked for a call that asks for input. */
export const inputRequests = (state: InputState, call: ToolCall, tool: Tool): NewApproval[] =>
  state.requests.map(({ approvalId, mode, message, schema, url }) => ({
    ...request('input', call, state.arguments, tool, message),
    approval_id: approvalId,
    input_schema: schema,
    definition_hash: state.definitionHash,
    mode,
    url,
    round: state.round,
    ...(state.edited ? { edited: true } : {}),
  }));

/** What is kept of a call that asks for input. */
export const inputStateOf = (
  { args, edited, tool }: Plan & { kind: 'make' },
  { requests, ...asked }: AskedInput,
): InputState => ({
  ...asked,
  arguments: args,
  edited,
  definitionHash: tool.definitionHash,
  requests: requests.map((one) => ({ ...one, approvalId: newId() })),
  answers: {},
});

/** A call that has asked for input goes on without another approval, if it is still the tool that asked. */
const planInput = (
  state: InputState,
  call: ToolCall,
  tool: Tool | undefined,
  approved: AttemptStart['approved'][number] | undefined,
): Plan => {
  if (!tool || tool.definitionHash !== state.definitionHash) {
    return { kind: 'refuse', call, text: changedAfterInput };
  }
  if (!isAnswered(state)) return { kind: 'ask_input', call, requests: inputRequests(state, call, tool) };
  const text = refusalOf(state);
  if (text !== null) return { kind: 'refuse', call, text };
  // After a call without an answer a person may have approved it with other arguments.
  const { arguments: args, edited } = approved ?? state;
  const made = { args, edited: edited || state.edited };
  return { kind: 'make', call, tool, ...made, request: unsafeRequest(call, args, tool), input: state };
};

const changedAfterInput =
  'The tool was not called again: it was removed or denied, or its definition changed, after it had asked for input.';

const wrongArguments = (fault: string): string =>
  `The tool was not called: the arguments are wrong: ${fault}`;

const unsafeRequest = (call: ToolCall, args: Args, tool: Tool): NewApproval =>
  request(
    'unknown_outcome',
    call,
    args,
    tool,
    `It is not known whether the call of ${call.name} took effect.`,
  );

/** `resumed`: an earlier attempt stored the call. */
const planCall = (attempt: Attempt, call: ToolCall, resumed: boolean): Plan => {
  const { tools, withheld, start, resultCheck } = attempt;
  const refuse = (text: string): Plan => ({ kind: 'refuse', call, text });
  if (call.fault !== undefined) return refuse(`The tool was not called: ${call.fault}.`);
  if (resumed && start.interrupted.includes(call.id)) return refuse(interruptedText);
  const tool = tools.find(({ name }) => name === call.name);
  const state = resumed ? attempt.inputs.get(call.id) : undefined;
  const approved = resumed ? start.approved.find(({ tool_call_id }) => tool_call_id === call.id) : undefined;
  if (state) return planInput(state, call, tool, approved);
  if (approved) {
    const changed = withheld.find(({ name }) => name === call.name);
    return planApproved(approved, call, tool, changed);
  }
  if (!tool) {
    const names = tools.map(({ name }) => name).join(', ');
    return refuse(
      `There is no tool ${call.name}. ${names === '' ? 'You have none' : `The tools are: ${names}`}.`,
    );
  }
  const fault = tool.check(call.arguments);
  if (fault !== null) return refuse(wrongArguments(fault));
  const args = (call.arguments ?? {}) as Args;
  if (resultCheck && call.name === submitResultName) return { kind: 'submit', call, result: args };
  if (tool.policy === 'require_approval') {
    const reason = `A person must approve each call of ${call.name}.`;
    return { kind: 'ask', call, request: request('tool_call', call, args, tool, reason) };
  }
  // The call was in flight in a release that did not note down which calls were.
  if (resumed && !tool.idempotent) return refuse(interruptedText);
  return { kind: 'make', call, tool, args, edited: false, request: unsafeRequest(call, args, tool) };
};

/** The request to a person that a tool made. */
export const questionOf = (
  { request: { approval_id, ...asked } }: Plan & { kind: 'make' },
  reason: string,
) => ({
  ...asked,
  approval_id,
  kind: 'question' as const,
  reason,
});

/** Returns the plans for the calls of one reply. After a call that asks a person, none is made. */
export const planCalls = (attempt: Attempt, calls: readonly ToolCall[], resumed: boolean): Plan[] => {
  const plans = calls.map((call) => planCall(attempt, call, resumed));
  const question = plans.findIndex((plan) => plan.kind === 'make' && plan.tool.asksPerson);
  if (question === -1) return plans;
  return plans.map((plan, i) => {
    if (i <= question || plan.kind === 'refuse') return plan;
    const text = 'The tool was not called: a person was asked to review first.';
    return { kind: 'hold_back', call: plan.call, text };
  });
};
