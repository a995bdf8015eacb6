import { useState } from 'react';
import type { Attention } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { common } from '../../text/en/common.ts';
import { overview as words } from '../../text/en/overview.ts';
import { Time } from '../../time/index.ts';
import { Box, Button, ButtonLink, Mark, type Outcome, Section } from '../../ui/index.ts';
import css from './AttentionList.module.css';

const shownAtFirst = 8;

const markOf = ({ kind, severity }: Attention): Outcome => {
  if (kind === 'reviews_waiting' || kind === 'work_items_indeterminate') return 'waits';
  return severity === 'error' ? 'missing' : severity === 'warning' ? 'late' : 'due';
};

/** The action of a line: where one sees the thing, or changes it. */
const actionOf = ({ kind, subject, since, filter }: Attention): { label: string; href: string } => {
  if (kind === 'reviews_waiting') return { label: words.review, href: to('/review') };
  if (kind.startsWith('no_')) return { label: words.open, href: to('/status') };
  if (kind === 'alerts_firing') return { label: words.open, href: to('/alerts') };
  if (kind === 'channel_failing')
    return {
      label: words.open,
      href: subject ? to('/channels/$channelId', { channelId: subject.id }) : to('/channels'),
    };
  if (kind.startsWith('work_items'))
    return subject?.type === 'work_item'
      ? { label: words.open, href: to('/work-items/$workItemId', { workItemId: subject.id }) }
      : { label: words.items, href: to('/work-items', {}, filter) };
  if (kind.startsWith('schedule') || kind.startsWith('occurrences'))
    return subject
      ? // The page opens with the answer, and with the records that the line counts.
        {
          label: words.why,
          href: to(
            '/schedules/$scheduleId',
            { scheduleId: subject.id },
            { ...filter, at: since ?? undefined },
          ),
        }
      : { label: words.open, href: to('/schedules', {}, filter) };
  if (kind === 'dead_letters' && subject)
    return {
      label: words.open,
      href: to('/integrations/$integrationId', { integrationId: subject.id }, { tab: 'dead-letters' }),
    };
  if (kind === 'price_missing') return { label: words.open, href: to('/prices') };
  if (kind === 'publish_blocked' || kind === 'canary_aborted')
    return subject
      ? {
          label: words.open,
          href: to('/agents/$agentId', { agentId: subject.id }, { tab: 'versions' }),
        }
      : { label: words.open, href: to('/agents') };
  if (kind.startsWith('budget_'))
    return subject
      ? { label: words.open, href: to('/budgets/$budgetId', { budgetId: subject.id }) }
      : { label: words.open, href: to('/budgets') };
  if (kind.startsWith('trigger') || kind.startsWith('events') || kind.startsWith('webhooks'))
    return subject
      ? { label: words.open, href: to('/triggers/$triggerId', { triggerId: subject.id }, filter) }
      : { label: words.open, href: to('/triggers', {}, filter) };
  if (subject?.type === 'integration')
    return { label: words.health, href: to('/integrations/$integrationId', { integrationId: subject.id }) };
  if (kind === 'key_expiring') return { label: words.open, href: to('/api-keys') };
  if (kind === 'audit_broken') return { label: words.open, href: to('/audit') };
  return { label: words.open, href: to('/integrations') };
};

/** Lines by severity: a sentence, its reason, its age, and the one action. */
export const AttentionList = ({ lines }: { lines: readonly Attention[] }) => {
  const [all, setAll] = useState(false);
  const shown = all ? lines : lines.slice(0, shownAtFirst);
  const hidden = lines.length - shown.length;
  return (
    <Section title={words.attention}>
      <Box>
        {lines.length === 0 ? (
          <p className={css.calm}>{words.allWell}</p>
        ) : (
          <ul className={css.lines}>
            {shown.map((line) => {
              const { label, href } = actionOf(line);
              return (
                <li key={`${line.kind} ${line.subject?.id ?? line.title}`}>
                  <Mark kind={markOf(line)} />
                  <div>
                    <b>{line.title}</b>
                    <span>{line.detail}</span>
                  </div>
                  <span className={css.since}>{line.since && <Time at={line.since} form="relative" />}</span>
                  <ButtonLink small href={href} label={`${label}: ${line.title}`}>
                    {label}
                  </ButtonLink>
                </li>
              );
            })}
          </ul>
        )}
        {hidden > 0 && (
          <p className={css.calm}>
            {common.more(hidden)}{' '}
            <Button small kind="quiet" onClick={() => setAll(true)}>
              {words.all}
            </Button>
          </p>
        )}
      </Box>
    </Section>
  );
};
