import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { polling, refresh as readAgain, useEventStream } from '../../api/index.ts';
import type { ConversationDetail } from '../../api/types.gen.ts';
import { applyEvent, type Draft } from './drafts.ts';
import type { ConversationParams } from './params.ts';

/** Events that come together are shown together. */
const gatherMs = 100;

/**
 * Follows the run of a conversation by its one stream: text as it is written is in `drafts`, and after any other event
 * what the page shows is read again. `every`: how often to ask while the stream does not work, and while others may
 * begin a run.
 */
export const useLive = (params: ConversationParams, conversation: ConversationDetail | undefined) => {
  const [drafts, setDrafts] = useState<readonly Draft[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const refresh = useEffectEvent(() => void readAgain('getConversationDetail'));
  useEffect(() => () => clearTimeout(timer.current), []);
  const running = conversation?.status === 'running';
  const state = useEventStream('followConversation', params, {
    enabled: running,
    onEvent: (event) => {
      setDrafts((before) => applyEvent(before, event));
      if (event.event === 'message.delta') return;
      clearTimeout(timer.current);
      timer.current = setTimeout(refresh, gatherMs);
    },
  });
  // The stream ends with the run, also with one that ended before it was open.
  useEffect(() => {
    if (state === 'failed') refresh();
  }, [state]);
  const every = running ? (state === 'failed' ? polling.withoutStream : undefined) : polling.calm;
  return { drafts, every };
};
