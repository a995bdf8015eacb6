import type { ReactNode } from 'react';
import {
  type Body,
  type LoadState,
  listPolling,
  type OperationId,
  type Output,
  type Params,
  type QueryOf,
  type ReadId,
  useBaseUrl,
  useOperation,
} from '../api/index.ts';
import { useCursor, useUrlState } from '../routing/url-state.ts';
import {
  Box,
  Button,
  ButtonLink,
  type Column,
  curlOf,
  EmptyState,
  FilterBar,
  FilterChoice,
  FilterText,
  Loaded,
  type MenuEntry,
  NothingMatches,
  type Option,
  Page,
  Pager,
  Table,
  useDisabledReason,
} from '../ui/index.ts';
import { AgentFilter } from './AgentFilter.tsx';
import type { AgentMode } from './agents.ts';

/**
 * A filter, which is a parameter of the page's address. `q` is the text filter, one with options or agents is a choice,
 * and any other has no control: only links set it.
 */
interface ListFilter {
  name: string;
  /** The parameter of the API, if it has another name. */
  sentAs?: string;
  label?: string;
  options?: readonly Option[];
  /** A choice of the agents of this mode. */
  agents?: AgentMode;
  placeholder?: string;
}

type ListSearch = Readonly<Record<string, string | undefined>>;

type ListId = {
  [O in ReadId]: Output<O> extends { data: readonly { id: string }[] } ? O : never;
}[ReadId];

type RowOf<O extends ListId> = Output<O> extends { data: readonly (infer R)[] } ? R : never;

interface ListPageProps<O extends ListId, R, E extends OperationId> {
  title: string;
  /** `lead` is below the title, `what` are the things in "No … match", `empty` says that there is none yet. */
  words: { lead: string; what?: string; empty: string };
  operation: O;
  every?: number | null;
  filters?: readonly ListFilter[];
  /** For the few lists that come as a whole: whether a row matches the filters, which are not sent then. */
  matches?: (row: R, search: ListSearch) => boolean;
  columns: readonly Column<R>[];
  name: (row: R) => string;
  href?: (row: R) => string;
  menu?: (row: R) => readonly MenuEntry[];
  create?: { label: string; operation: OperationId; href?: string; onClick?: () => void };
  /** The request that creates one: the command of the empty list. */
  example?: readonly [operation: E, body: Body<E>];
  /** The whole command of the empty list, if it is more than a POST of JSON. */
  command?: (baseUrl: string) => string;
  /** The command of the empty list, if something must be read for it. */
  readCommand?: ReactNode;
  actions?: ReactNode;
  /** Above the filters; and dialogs. */
  children?: ReactNode;
}

const noFilters: readonly ListFilter[] = [];

export const ListPage = <
  O extends ListId,
  E extends OperationId,
  R extends { id: string } = RowOf<O> & { id: string },
>(
  props: ListPageProps<O, R, E>,
) => {
  const { title, words, operation, filters = noFilters, matches, create, example } = props;
  const every = props.every === null ? undefined : (props.every ?? listPolling(false));
  const { search, set, replace, clear, count } = useUrlState<ListSearch>();
  const names = filters.map(({ name }) => name);
  const sent = Object.fromEntries(filters.map(({ name, sentAs }) => [sentAs ?? name, search[name]]));
  const got = useOperation(operation, {} as Params<O>, {
    ...(matches ? {} : { query: { ...sent, next: search.next, limit: 50 } as QueryOf<O> }),
    every,
    keepPrevious: true,
  }) as unknown as LoadState<{ data: R[]; next?: string | null }>;
  const pager = useCursor(got.data?.next);
  const base = useBaseUrl();
  const mayCreate = useDisabledReason(create?.operation ?? operation);
  const button = create?.href ? (
    <ButtonLink kind="primary" href={create.href} disabledReason={mayCreate}>
      {create.label}
    </ButtonLink>
  ) : (
    create && (
      <Button kind="primary" disabledReason={mayCreate} onClick={create.onClick}>
        {create.label}
      </Button>
    )
  );
  const filtered = count(names);
  const empty = got.data?.data.length === 0 && (matches !== undefined || filtered === 0);
  return (
    <Page
      title={title}
      lead={words.lead}
      actions={
        (props.actions || !empty) && (
          <>
            {props.actions}
            {!empty && button}
          </>
        )
      }
    >
      {props.children}
      {filters.length > 0 && !empty && (
        <FilterBar set={filtered} onClear={() => clear(names)}>
          {filters.map(({ name, label = '', options, agents, placeholder }) =>
            agents ? (
              <AgentFilter
                key={name}
                label={label}
                mode={agents}
                value={search[name]}
                onChange={(id) => set({ [name]: id })}
              />
            ) : options ? (
              <FilterChoice
                key={name}
                label={label}
                value={search[name] ? [search[name]] : []}
                options={options}
                onChange={([value]) => set({ [name]: value })}
              />
            ) : (
              name === 'q' && (
                <FilterText
                  key={name}
                  value={search.q ?? ''}
                  placeholder={placeholder}
                  onChange={(q) => replace({ q })}
                />
              )
            ),
          )}
        </FilterBar>
      )}
      <Loaded got={got} operation={operation}>
        {({ data }) => (
          <Box>
            <Table
              label={title}
              rows={matches ? data.filter((row) => matches(row, search)) : data}
              columns={props.columns}
              rowKey={({ id }) => id}
              name={props.name}
              href={props.href}
              actions={props.menu}
              nothing={
                empty ? (
                  <EmptyState
                    sentence={words.empty}
                    action={button}
                    curl={
                      props.command?.(base) ??
                      (example && curlOf(base, example[0], {} as Params<E>, { body: example[1] }))
                    }
                  >
                    {props.readCommand}
                  </EmptyState>
                ) : (
                  <NothingMatches what={words.what ?? ''} filters={filtered} onClear={() => clear(names)} />
                )
              }
            />
          </Box>
        )}
      </Loaded>
      <Pager {...pager} />
    </Page>
  );
};
