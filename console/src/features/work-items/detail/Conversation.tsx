import { useEffect } from 'react';
import {
  anchorOf,
  type Deciding,
  Messages,
  SendDecisions,
  useMessagePages,
} from '../../../messages/index.ts';
import { useUrlState } from '../../../routing/url-state.ts';
import { workItems as words } from '../../../text/en/work-items.ts';
import { Box, Button, Muted, Problem, Segmented, useHash, useHashTarget } from '../../../ui/index.ts';
import type { workItemSearch } from '../search.ts';
import type { WorkItemDetail } from '../types.ts';
import css from './detail.module.css';
import { toShown } from './messages.ts';

const Choice = ({ item, shown }: { item: WorkItemDetail; shown: string }) => {
  const { set } = useUrlState<ReturnType<typeof workItemSearch>>();
  const last = item.conversations.at(-1)!.id;
  return (
    <div className={css.choice}>
      <Segmented
        label={words.conversation}
        hiddenLabel
        value={shown}
        onChange={(id) => set({ conversation: id === last ? undefined : id })}
        options={item.conversations.map(({ id, n }) => ({ value: id, label: words.conversationPart(n) }))}
      />
    </div>
  );
};

/** The messages: the last page, and more if someone asks. */
export const Conversation = ({ item, deciding }: { item: WorkItemDetail; deciding: Deciding | null }) => {
  const { search } = useUrlState<ReturnType<typeof workItemSearch>>();
  const { messages, hasMore, load } = useMessagePages(
    'listShownMessages',
    { work_item_id: item.id },
    item.messages,
  );
  const hash = useHash();
  const asked = messages.find(({ id }) => anchorOf(id) === hash);
  const wanted = search.conversation ?? asked?.conversation_id;
  const chosen = item.conversations.find(({ id }) => id === wanted) ?? item.conversations.at(-1)!;
  const ofChosen = messages.filter(({ conversation_id }) => conversation_id === chosen.id);
  const complete = ofChosen.length >= chosen.messages;
  const missing = !complete && hasMore;
  // An older conversation may lie on older pages altogether, and so may the message that the address names.
  const looksForMessage = !asked && hash.startsWith(anchorOf(''));
  useEffect(() => {
    const wants = (missing && ofChosen.length === 0) || (hasMore && looksForMessage);
    if (wants && !load.busy && !load.error) void load.run();
  });
  useHashTarget(ofChosen.length);
  const current = chosen.id === item.conversations.at(-1)!.id;
  const pending = current ? item.pending_approvals : [];
  return (
    <Box>
      {item.conversations.length > 1 && <Choice item={item} shown={chosen.id} />}
      {ofChosen.length === 0 && !missing && pending.length === 0 ? (
        <p className={css.none}>
          <Muted>{item.status === 'DRAFT' ? words.noMessagesDraft : words.noMessages}</Muted>
        </p>
      ) : (
        <Messages
          label={words.messagesOf}
          messages={toShown(item, ofChosen, complete)}
          pending={pending}
          deciding={deciding}
          running={current && item.status === 'EXECUTING'}
          before={
            missing && (
              <>
                <Button small busy={load.busy} onClick={() => void load.run()}>
                  {words.earlier}
                </Button>
                {load.error && <Problem error={load.error} onRetry={() => void load.run()} />}
              </>
            )
          }
          after={
            deciding && (deciding.waiting.length > 1 || deciding.error) ? (
              <SendDecisions deciding={deciding} />
            ) : null
          }
        />
      )}
    </Box>
  );
};
