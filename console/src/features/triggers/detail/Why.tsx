import { useEffect, useRef, useState } from 'react';
import { useOperation, usePermission } from '../../../api/index.ts';
import type { PublicTrigger, TriggerExplanation } from '../../../api/types.gen.ts';
import { to } from '../../../routing/to.ts';
import { useUrlState } from '../../../routing/url-state.ts';
import { common } from '../../../text/en/common.ts';
import { triggerDetail as words } from '../../../text/en/trigger-detail.ts';
import { triggers } from '../../../text/en/triggers.ts';
import {
  Bar,
  Box,
  ButtonLink,
  Callout,
  CodeBlock,
  CopyButton,
  JsonView,
  Loaded,
  Muted,
  Section,
  Skeleton,
  TextField,
} from '../../../ui/index.ts';
import type { TriggerSearch } from '../search.ts';
import { paramsOf } from '../shared/params.ts';
import css from './detail.module.css';
import { whyQuery } from './why-query.ts';

const tones: Record<TriggerExplanation['verdict'], 'plain' | 'good' | 'look' | 'bad'> = {
  fired: 'good',
  manual: 'good',
  filtered: 'look',
  duplicate: 'look',
  limited: 'look',
  paused: 'look',
  pending: 'plain',
  moment: 'plain',
  invalid: 'bad',
  lost: 'bad',
  not_received: 'bad',
};

const wordOf = (outcome: string): string => {
  if (outcome === 'refused' || outcome === 'repeated') return words[outcome];
  const { outcomes } = triggers;
  return outcome in outcomes ? outcomes[outcome as keyof typeof outcomes].toLowerCase() : outcome;
};

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};

/** The headers and the body of an event, while they are kept. */
const Content = ({ trigger, id }: { trigger: PublicTrigger; id: string }) => {
  const got = useOperation('getTriggerEvent', { ...paramsOf(trigger), occurrence_id: id });
  return (
    <Loaded got={got} operation="getTriggerEvent" skeleton={<Skeleton rows={3} height={20} />}>
      {({ headers, body, body_kept }) => {
        if (!body_kept) return <Muted small>{words.bodyGone}</Muted>;
        const value = body === null ? undefined : parsed(body);
        return (
          <div className={css.why}>
            <Section title={words.body}>
              {value === undefined ? (
                <CodeBlock label={words.body} code={body ?? words.bodyBytes} />
              ) : (
                <JsonView value={value} label={words.body} fileName={`${id}.json`} />
              )}
            </Section>
            {headers && (
              <Section title={words.headers}>
                <JsonView value={headers} label={words.headers} fileName={`${id}-headers.json`} />
              </Section>
            )}
          </div>
        );
      }}
    </Loaded>
  );
};

const Answer = ({ trigger, explanation }: { trigger: PublicTrigger; explanation: TriggerExplanation }) => {
  const { href } = useUrlState<TriggerSearch>();
  const { allowed } = usePermission('getTriggerEvent');
  const { verdict, text, occurrence, work_item, counts } = explanation;
  const counted = Object.entries(counts).filter(([, count]) => count > 0);
  return (
    <div className={css.why}>
      <Callout tone={tones[verdict]}>
        <p>{text}</p>
      </Callout>
      <Muted small>{words.inUtc}</Muted>
      {occurrence === null && counted.length > 0 && (
        <Muted small>
          {`${words.counts}: ${counted.map(([outcome, count]) => words.countOf(count, wordOf(outcome))).join(', ')}.`}
        </Muted>
      )}
      <Bar>
        {work_item && (
          <ButtonLink small href={to('/work-items/$workItemId', { workItemId: work_item.id })}>
            {words.openWorkItem}
          </ButtonLink>
        )}
        {occurrence && (
          <CopyButton
            small
            label={common.copyLink}
            value={`${location.origin}${href({ why: occurrence.id })}`}
          />
        )}
      </Bar>
      {occurrence && allowed && <Content key={occurrence.id} trigger={trigger} id={occurrence.id} />}
    </div>
  );
};

/** The reason why an event started a Work Item, or did not: what is asked about is in the address. */
export const Why = ({ trigger }: { trigger: PublicTrigger }) => {
  const { search, replace } = useUrlState<TriggerSearch>();
  const { why } = search;
  const [text, setText] = useState(why ?? '');
  const [shown, setShown] = useState(why);
  const box = useRef<HTMLDivElement>(null);
  if (why !== shown) {
    setShown(why);
    if (why !== text) setText(why ?? '');
  }
  // A row was chosen: on a phone the answer is elsewhere.
  useEffect(() => {
    if (why !== undefined) box.current?.scrollIntoView({ block: 'nearest' });
  }, [why]);
  const query = whyQuery(why);
  const got = useOperation('explainTrigger', query === null ? null : paramsOf(trigger), {
    query: query ?? {},
    keepPrevious: true,
  });
  return (
    <div ref={box}>
      <Box padded title={words.why}>
        <div className={css.why}>
          <TextField
            label={words.whyField}
            value={text}
            onChange={(value) => {
              setText(value);
              replace({ why: value.trim() === '' ? undefined : value.trim(), next: search.next });
            }}
          />
          <div aria-live="polite" className={css.why}>
            {query === null ? (
              <Muted small>{words.whyHint}</Muted>
            ) : (
              <Loaded got={got} operation="explainTrigger" skeleton={<Skeleton rows={4} height={20} />}>
                {(explanation) => <Answer trigger={trigger} explanation={explanation} />}
              </Loaded>
            )}
          </div>
        </div>
      </Box>
    </div>
  );
};
