import type { ReactNode } from 'react';
import {
  type LoadState,
  listPolling,
  type OperationId,
  type Output,
  type Params,
  type QueryOf,
  type ReadId,
  useBaseUrl,
  useOperation,
  usePermission,
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
  permissionReason,
  Table,
} from '../ui/index.ts';

/**
 * A filter, which is a parameter of the page's address. `q` is the text filter, one with options is a choice, and any
 * other has no control: only links set it.
 */
interface ListFilter {
  name: string;
  /** The parameter of the API, if it has another name. */
  sentAs?: string;
  label?: string;
  options?: readonly Option[];
  placeholder?: string;
}

/** What the address of a list has. */
type ListSearch = Readonly<Record<string, string | undefined>>;

/** The operations that return a list. */
type ListId = {
  [O in ReadId]: Output<O> extends { data: readonly { id: string }[] } ? O : never;
}[ReadId];

type RowOf<O extends ListId> = Output<O> extends { data: readonly (infer R)[] } ? R : never;

interface ListPageProps<O extends ListId, R> {
  title: string;
  /** `lead` is below the title, `what` are the things in "No … match", `empty` says that there is none yet. */
  words: { lead: string; what?: string; empty: string };
  /** The operation that lists them. */
  operation: O;
  /** Milliseconds between two requests; null for none. */
  every?: number | null;
  filters?: readonly ListFilter[];
  /** For the few lists that come as a whole: whether a row matches the filters, which are not sent then. */
  matches?: (row: R, search: ListSearch) => boolean;
  columns: readonly Column<R>[];
  name: (row: R) => string;
  href?: (row: R) => string;
  /** What can be done with a row. */
  menu?: (row: R) => readonly MenuEntry[];
  /** The button that creates one: in the header, or in the empty list. */
  create?: { label: string; operation: OperationId; href?: string; onClick?: () => void };
  /** The path and body of a POST that creates one: the command of the empty list. */
  example?: readonly [string, object];
  /** The whole command of the empty list, if it is more than a POST of JSON. */
  command?: (baseUrl: string) => string;
  /** The command of the empty list, if something must be read for it. */
  readCommand?: ReactNode;
  /** Other buttons of the header. */
  actions?: ReactNode;
  /** Above the filters; and dialogs. */
  children?: ReactNode;
}

const noFilters: readonly ListFilter[] = [];

/** A page that lists what an operation of the API has: filters in the address, a table, and the pages of the list. */
export const ListPage = <O extends ListId, R extends { id: string } = RowOf<O> & { id: string }>(
  props: ListPageProps<O, R>,
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
  const mayCreate = permissionReason(usePermission(create?.operation ?? operation));
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
          {filters.map(({ name, label = '', options, placeholder }) =>
            options ? (
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
                    curl={props.command?.(base) ?? (example && curlOf(base, 'POST', ...example))}
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
