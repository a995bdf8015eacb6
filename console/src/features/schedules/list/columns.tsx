import type { ListedSchedule } from '../../../api/types.gen.ts';
import { schedules as words } from '../../../text/en/schedules.ts';
import { type Column, Strip, TwoLines, Words } from '../../../ui/index.ts';
import { nameOf } from '../shared/name.ts';
import { stripOf } from '../shared/outcomes.ts';
import { LastRun } from './LastRun.tsx';
import css from './list.module.css';
import { NextRun } from './NextRun.tsx';

export const columns: readonly Column<ListedSchedule>[] = [
  {
    key: 'name',
    title: words.columns.name,
    width: '19%',
    cell: (schedule) => <TwoLines below={schedule.agent.name}>{nameOf(schedule)}</TwoLines>,
  },
  {
    key: 'when',
    title: words.columns.when,
    width: '18%',
    phone: 'hide',
    cell: ({ description, cron_expression, timezone }) => (
      <TwoLines
        below={
          <Words
            text={words.expressionAndZone}
            expression={<code className={css.expression}>{cron_expression}</code>}
            zone={timezone}
          />
        }
      >
        {description}
      </TwoLines>
    ),
  },
  {
    key: 'next',
    title: words.columns.next,
    width: '17%',
    cell: (schedule) => <NextRun schedule={schedule} />,
  },
  {
    key: 'last',
    title: words.columns.last,
    phone: 'below',
    cell: (schedule) => <LastRun schedule={schedule} />,
  },
  {
    key: 'recent',
    title: words.columns.recent,
    width: '206px',
    phone: 'below',
    cell: ({ recent }) => <Strip kinds={stripOf(recent)} />,
  },
];
