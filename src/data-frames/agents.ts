import { isDeepStrictEqual } from 'node:util';
import { fileCalls, type OwnerIds, type OwnerKind } from '../files/index.ts';
import { unprocessable } from '../lib/errors.ts';
import type { KeepAnswer } from '../semantic-data-models/index.ts';
import type { Target } from './keep.ts';
import { keepAnswer } from './keep-answer.ts';
import { isResultName } from './names.ts';
import type { FrameParts } from './parts.ts';
import { type QueryResult, queryFrames } from './query.ts';
import { makeOfFile } from './read-file.ts';
import { type DataFrame, listAllFrames } from './store.ts';

/** Who calls a tool: an agent, for the conversation, Work Item or trial that it works on. It sees no other. */
interface AgentCaller {
  owner: OwnerIds;
  /** Whose files it reads, if not those of `owner`. */
  filesOf?: OwnerIds | undefined;
  agentId: string;
  signal: AbortSignal;
}

/** Data frames for agents. A name that is taken is replaced, so that a repeated call does no harm. */
export interface AgentFrames {
  list(caller: AgentCaller): Promise<DataFrame[]>;
  make(caller: AgentCaller, wanted: { file: string; sheet: string | null; name: string }): Promise<DataFrame>;
  query(
    caller: AgentCaller,
    wanted: { sql: string; saveAs: string | null; limit: number },
  ): Promise<QueryResult>;
  /** Without a name, the frame takes the place of the one that the same call made before, else it is `result_n`. */
  keepAnswer(caller: AgentCaller): KeepAnswer;
}

export const agentFrames = (
  parts: FrameParts,
  owners: readonly OwnerKind[],
  lockTrial: OwnerKind['lock'],
): AgentFrames => {
  const target = ({ owner, agentId }: AgentCaller, name: string | null): Target => {
    const kind = owners.find((one) => one.name === (owner.conversation_id ? 'Conversation' : 'WorkItem'))!;
    const lock = owner.trial_id ? lockTrial : kind.lock;
    const maker = { agentId };
    return { owner, lock, maker, name, nameField: 'name', description: null, replace: true };
  };
  return {
    list: ({ owner }) => parts.db.run((executor) => listAllFrames(executor, owner)),
    make: async (caller, { file, sheet, name }) => {
      const found = await parts.db.run((executor) =>
        fileCalls.findByName(executor, caller.filesOf ?? caller.owner, file),
      );
      if (!found) throw unprocessable([{ path: 'file', message: 'there is no file of this name' }]);
      const source = { kind: 'file', file_id: found.id, sheet, header: true, columns: {} } as const;
      return makeOfFile(parts, target(caller, name), source, caller.signal);
    },
    query: (caller, { sql, saveAs, limit }) => {
      const to = saveAs === null ? null : target(caller, saveAs);
      const by = `agent ${caller.agentId}`;
      return queryFrames(parts, caller.owner, { sql, limit, path: 'sql', target: to, by }, caller.signal);
    },
    keepAnswer:
      (caller) =>
      async ({ saveAs, source }, query) => {
        const frames = saveAs === null ? await parts.db.run((tx) => listAllFrames(tx, caller.owner)) : [];
        const same = frames.find((one) => isResultName(one.name) && isDeepStrictEqual(one.source, source));
        const to = target(caller, saveAs ?? same?.name ?? null);
        return keepAnswer(parts, to, source, query, caller.signal);
      },
  };
};
