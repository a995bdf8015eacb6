import { listPolling, useBaseUrl, useOperation } from '../../api/index.ts';
import type { NamedAlertRule } from '../../api/types.gen.ts';
import { to } from '../../routing/to.ts';
import { useCursor, useUrlState } from '../../routing/url-state.ts';
import { alertRules as words } from '../../text/en/alert-rules.ts';
import { alerts } from '../../text/en/alerts.ts';
import { Box, type Column, curlOf, EmptyState, Loaded, Pager, Table, TwoLines } from '../../ui/index.ts';
import { SeverityTag } from './marks.tsx';
import { RuleTag, scopeOf } from './rules.tsx';
import type { alertsSearch } from './search.ts';

const columns: readonly Column<NamedAlertRule>[] = [
  {
    key: 'rule',
    title: words.rule,
    width: '36%',
    cell: ({ name, kind }) => <TwoLines below={alerts.kinds[kind]}>{name}</TwoLines>,
  },
  {
    key: 'scope',
    title: words.scope,
    width: '28%',
    phone: 'below',
    cell: (rule) => (
      <TwoLines below={rule.schedule?.name ?? rule.agent?.name}>{words.scopes[scopeOf(rule)]}</TwoLines>
    ),
  },
  {
    key: 'severity',
    title: words.severity,
    phone: 'hide',
    cell: ({ severity }) => <SeverityTag severity={severity} />,
  },
  { key: 'state', title: words.state, cell: (rule) => <RuleTag rule={rule} /> },
];

/** The rules, newest first. */
export const RulesTab = () => {
  const { next } = useUrlState<ReturnType<typeof alertsSearch>>().search;
  const got = useOperation(
    'listNamedAlertRules',
    {},
    { query: { next, limit: 50 }, every: listPolling(false), keepPrevious: true },
  );
  const pager = useCursor(got.data?.next);
  const curl = curlOf(
    useBaseUrl(),
    'createAlertRule',
    {},
    { body: { name: 'Missed occurrences', kind: 'missed' } },
  );
  return (
    <>
      <Loaded got={got} operation="listNamedAlertRules">
        {({ data }) => (
          <Box>
            <Table
              label={alerts.tabs.rules}
              rows={data}
              columns={columns}
              rowKey={({ id }) => id}
              name={({ name }) => name}
              href={({ id }) => to('/alert-rules/$alertRuleId', { alertRuleId: id })}
              nothing={<EmptyState sentence={words.empty} curl={curl} />}
            />
          </Box>
        )}
      </Loaded>
      <Pager {...pager} />
    </>
  );
};
