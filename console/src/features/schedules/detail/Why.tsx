import { useEffect, useRef, useState } from 'react';
import { useOperation } from '../../../api/index.ts';
import type { ScheduleDetail, ScheduleExplanation } from '../../../api/types.gen.ts';
import { to } from '../../../routing/to.ts';
import { useUrlState } from '../../../routing/url-state.ts';
import { common } from '../../../text/en/common.ts';
import { schedule as words } from '../../../text/en/schedule.ts';
import { clockTime, dayOf, shortDay, zoneLabel } from '../../../time/index.ts';
import {
  Bar,
  Box,
  ButtonLink,
  Callout,
  CopyButton,
  Loaded,
  Muted,
  Skeleton,
  TextField,
} from '../../../ui/index.ts';
import type { scheduleSearch } from '../search.ts';
import { paramsOf } from '../shared/use-actions.ts';
import css from './detail.module.css';

const tones: Record<ScheduleExplanation['verdict'], 'plain' | 'good' | 'look' | 'bad'> = {
  fired: 'good',
  caught_up: 'good',
  skipped: 'look',
  due: 'look',
  missing: 'bad',
  blocked: 'bad',
  upcoming: 'plain',
  not_nominal: 'plain',
  changed: 'plain',
  paused: 'plain',
  before_records: 'plain',
};

/** The time in the form of the field: on the clocks of the zone. A time without an offset is one already. */
const toField = (at: string | undefined, zone: string): string => {
  if (at === undefined) return '';
  if (!/(Z|[+-]\d\d:\d\d)$/.test(at)) return at.slice(0, 16);
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? '' : `${dayOf(date, zone)}T${clockTime(date, zone)}`;
};

/** The first sentence of an answer says when; the rest says why. */
const splitAnswer = (text: string): [string, string] => {
  const found =
    /^((?:It (?:is|was) not due at|Due at|What happened at|The schedule did not exist at) [^()]+\([^()]+\)[^.:]*[.:])\s+(.+)$/s.exec(
      text,
    );
  return found ? [found[1]!, found[2]!] : ['', text];
};

const Answer = ({ explanation, zone }: { explanation: ScheduleExplanation; zone: string }) => {
  const { href } = useUrlState<ReturnType<typeof scheduleSearch>>();
  const { verdict, text, nearest, work_item, at } = explanation;
  const [lead, more] = splitAnswer(text);
  const shown = (time: string) => `${shortDay(new Date(time), zone)} ${clockTime(new Date(time), zone)}`;
  return (
    <div className={css.why}>
      <Callout tone={tones[verdict]} title={lead || undefined}>
        <p>{more}</p>
      </Callout>
      <Bar>
        {nearest.before && (
          <ButtonLink
            small
            keepScroll
            href={href({ at: nearest.before.at })}
            label={words.before(shown(nearest.before.at))}
          >
            {words.back(shown(nearest.before.at))}
          </ButtonLink>
        )}
        {nearest.after && (
          <ButtonLink
            small
            keepScroll
            href={href({ at: nearest.after.at })}
            label={words.after(shown(nearest.after.at))}
          >
            {words.forward(shown(nearest.after.at))}
          </ButtonLink>
        )}
      </Bar>
      <Bar>
        {work_item && (
          <ButtonLink small href={to('/work-items/$workItemId', { workItemId: work_item.id })}>
            {words.openWorkItem}
          </ButtonLink>
        )}
        <CopyButton small label={common.copyLink} value={`${location.origin}${href({ at })}`} />
      </Bar>
    </div>
  );
};

/** The reason why it ran at some time, or did not: the time is in the address. */
export const Why = ({ schedule }: { schedule: ScheduleDetail }) => {
  const { search, replace } = useUrlState<ReturnType<typeof scheduleSearch>>();
  const { timezone } = schedule;
  const { at } = search;
  const [text, setText] = useState(toField(at, timezone));
  const [shownAt, setShownAt] = useState(at);
  const box = useRef<HTMLDivElement>(null);
  if (at !== shownAt) {
    setShownAt(at);
    // A time that was typed is in the field already.
    if (at !== text) setText(toField(at, timezone));
  }
  // A row of the ledger was chosen: on a phone the answer is elsewhere.
  useEffect(() => {
    if (at !== undefined) box.current?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const got = useOperation('explainSchedule', at === undefined ? null : paramsOf(schedule), {
    query: { at: at ?? '' },
    keepPrevious: true,
  });
  return (
    <div ref={box}>
      <Box padded title={words.why}>
        <div className={css.why}>
          <TextField
            label={words.when}
            type="datetime-local"
            value={text}
            onChange={(value) => {
              setText(value);
              replace({ at: value === '' ? undefined : value, next: search.next });
            }}
            // Not at its end: Firefox cuts the time there.
            hint={words.whenIn(zoneLabel(timezone))}
          />
          <div aria-live="polite" className={css.why}>
            {at === undefined ? (
              <Muted small>{words.whyHint}</Muted>
            ) : (
              <Loaded got={got} operation="explainSchedule" skeleton={<Skeleton rows={4} height={20} />}>
                {({ data }) => <Answer explanation={data} zone={timezone} />}
              </Loaded>
            )}
          </div>
        </div>
      </Box>
    </div>
  );
};
