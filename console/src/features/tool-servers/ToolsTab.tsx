import { call, listPolling, perform, refreshAfter, useAction, useOperation } from '../../api/index.ts';
import type { Tool, UsedToolServer } from '../../api/types.gen.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { toolServers as words } from '../../text/en/tool-servers.ts';
import {
  Box,
  Button,
  type Column,
  EmptyState,
  FilterBar,
  FilterChoice,
  FilterText,
  Loaded,
  type MenuEntry,
  Muted,
  NothingMatches,
  notify,
  optionsOf,
  Problem,
  Section,
  Table,
  Tag,
  TwoLines,
} from '../../ui/index.ts';
import { AcceptToolDialog } from './AcceptToolDialog.tsx';
import { EditToolDialog } from './EditToolDialog.tsx';
import type { toolServerSearch } from './search.ts';
import css from './ToolsTab.module.css';
import { saysTheSame, sortTools, stateKinds, waits } from './tools.ts';

/** More rows make the page slow to show; a server may list 2,000 tools. */
const mostRows = 200;

const columns: readonly Column<Tool>[] = [
  {
    key: 'name',
    title: words.tool,
    width: '56%',
    cell: ({ name, description }) => (
      <TwoLines below={description && <span className={css.description}>{description}</span>}>
        {name}
      </TwoLines>
    ),
  },
  {
    key: 'state',
    title: words.state,
    cell: ({ state }) => <Tag kind={stateKinds[state]}>{words.toolStates[state]}</Tag>,
  },
  {
    key: 'policy',
    title: words.policy,
    phone: 'below',
    cell: ({ policy, effective_policy }) => (
      <TwoLines below={policy === null ? words.byDefault : undefined}>
        {words.policies[effective_policy]}
      </TwoLines>
    ),
  },
];

const filters = ['q', 'state'] as const;
const states = optionsOf(words.toolStates);

/** Accepts the tools of which only the address of the server is new, and sets the policy of one. */
const useToolActions = (tool_server_id: string) => ({
  acceptAll: useAction(async (tools: readonly Tool[]) => {
    for (const { name, definition_hash } of tools) {
      await call('acceptTool', { tool_server_id, tool: name }, { body: { definition_hash } });
    }
    notify(words.acceptedAll(tools.length));
    await refreshAfter('acceptTool');
  }),
  setPolicy: useAction(async ({ name }: Tool, policy: Tool['policy'], label: string) => {
    await perform('updateTool', { tool_server_id, tool: name }, { body: { policy } });
    notify(words.policySaved(name, label));
  }),
});

export const ToolsTab = ({
  server,
  disabledReason,
}: {
  server: UsedToolServer;
  disabledReason: string | null;
}) => {
  const { search, set, replace, href, clear, count } = useUrlState<ReturnType<typeof toolServerSearch>>();
  const { q = '', state, tool: open } = search;
  const got = useOperation('listTools', { tool_server_id: server.id }, { every: listPolling(false) });
  const { acceptAll, setPolicy } = useToolActions(server.id);
  const matches = (tool: Tool) =>
    (state === undefined || tool.state === state) &&
    `${tool.name} ${tool.description}`.toLowerCase().includes(q.toLowerCase());
  const entriesOf = (tool: Tool): MenuEntry[] => {
    const policy = (value: Tool['policy'], label: string): MenuEntry => ({
      label,
      onSelect: () => void setPolicy.run(tool, value, label),
      disabledReason,
    });
    return [
      ...Object.entries(words.policies).map(([value, label]) => policy(value as Tool['policy'], label)),
      policy(null, words.policyOfServer(words.policies[server.default_policy])),
      ...(waits(tool)
        ? [
            {
              label: tool.state === 'new' ? words.reviewNew : words.review,
              href: href({ tool: tool.name }),
              group: true as const,
            },
          ]
        : []),
    ];
  };
  const close = () => replace({ tool: undefined });
  return (
    <Loaded got={got} operation="listTools">
      {({ data }) => {
        const same = data.filter(saysTheSame);
        const shown = sortTools(data).filter(matches);
        const chosen = data.find(({ name }) => name === open);
        const problem = acceptAll.error ?? setPolicy.error;
        return (
          <Section
            label={words.tools}
            note={words.toolsText}
            aside={
              same.length > 0 && (
                <Button
                  small
                  busy={acceptAll.busy}
                  disabledReason={disabledReason}
                  onClick={() => void acceptAll.run(same)}
                >
                  {words.acceptSame(same.length)}
                </Button>
              )
            }
          >
            {problem && <Problem error={problem} />}
            {data.length > 0 && (
              <FilterBar set={count(filters)} onClear={() => clear(filters)}>
                <FilterText value={q} onChange={(q) => replace({ q })} />
                <FilterChoice
                  label={words.state}
                  value={state ? [state] : []}
                  options={states}
                  onChange={([state]) => set({ state })}
                />
              </FilterBar>
            )}
            <Box>
              {data.length === 0 ? (
                <EmptyState sentence={words.noTools} />
              ) : shown.length === 0 ? (
                <NothingMatches
                  what={words.whatTools}
                  filters={count(filters)}
                  onClear={() => clear(filters)}
                />
              ) : (
                <Table
                  label={words.tools}
                  rows={shown.slice(0, mostRows)}
                  columns={columns}
                  rowKey={({ name }) => name}
                  name={({ name }) => name}
                  href={({ name }) => href({ tool: name })}
                  actions={entriesOf}
                />
              )}
            </Box>
            {shown.length > mostRows && <Muted small>{words.firstOf(mostRows, shown.length)}</Muted>}
            {chosen &&
              (waits(chosen) ? (
                <AcceptToolDialog
                  serverId={server.id}
                  tool={chosen}
                  disabledReason={disabledReason}
                  onClose={close}
                />
              ) : (
                <EditToolDialog
                  key={chosen.name}
                  server={server}
                  tool={chosen}
                  disabledReason={disabledReason}
                  onClose={close}
                />
              ))}
          </Section>
        );
      }}
    </Loaded>
  );
};
