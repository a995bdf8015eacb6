import type { OpenedTools } from '../../runtime/index.ts';
import type { Divergence, Entry, Matcher } from './tape.ts';

/** The tools of a trial: what was recorded in place of calls. */

type Tool = OpenedTools['tools'][number];

export type ToolMode = 'replay' | 'idempotent_live';

/** They run inside the trial, on the files of its case and its own data frames. */
const localTools: readonly string[] = [
  'current_time',
  'list_files',
  'make_data_frame',
  'list_data_frames',
  'query_data_frames',
];

export const notOnTheRecording = 'This call is not on the recording.';

export interface TrialTools {
  matcher: Matcher;
  mode: ToolMode;
  /** Returns whether the source stopped at this call, because its outcome was not known, and a person continued it. */
  hasUnknownOutcome(entry: Entry): boolean;
  /** Records a call that nothing recorded fits. Throws if that ends the trial. */
  diverge(divergence: Pick<Divergence, 'kind' | 'tool_name' | 'arguments' | 'nearest'>): void;
  /** Puts the data frame that a recorded call made into the trial. */
  restoreFrame(entry: Entry): Promise<void>;
}

const replayed = (
  tool: Tool,
  { matcher, mode, hasUnknownOutcome, diverge, restoreFrame }: TrialTools,
): Tool['call'] => {
  const isLocal = tool.serverId === null && localTools.includes(tool.name);
  const isLive = mode === 'idempotent_live' && tool.idempotent && tool.policy === 'allow';
  return async (args, context) => {
    const call = { toolName: tool.name, arguments: args, idempotent: tool.idempotent };
    if (tool.asksPerson) {
      matcher.reserve(context.callId, call);
      return tool.call(args, context);
    }
    const reserved = matcher.reserved(context.callId);
    const taken = reserved ? { entry: reserved } : matcher.take(call);
    if ('entry' in taken) {
      if (!reserved && !tool.idempotent && hasUnknownOutcome(taken.entry)) {
        matcher.keep(context.callId, taken.entry);
        return { text: '', outcomeUnknown: true };
      }
      await restoreFrame(taken.entry);
      return { text: taken.entry.text, isError: taken.entry.isError };
    }
    if (isLocal || isLive) return tool.call(args, context);
    diverge({ kind: taken.kind, tool_name: tool.name, arguments: args, nearest: matcher.nearest(call) });
    return { text: notOnTheRecording, isError: true };
  };
};

/** Returns the tools with recorded results: the definitions, checks and policies stay as they are. */
export const replayTools = (opened: OpenedTools, trial: TrialTools): OpenedTools => ({
  ...opened,
  tools: opened.tools.map((tool) => ({ ...tool, call: replayed(tool, trial) })),
  [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
});
