import type { ReactNode } from 'react';
import type { Got } from '../api/index.ts';
import { to } from '../app/addresses.ts';
import { useUrlState } from '../app/url-state.ts';
import { Loaded, Page, Tabs } from '../ui/index.ts';

/** A page of one thing: its name, how it is, what can be done with it, and what it consists of. */
export const DetailPage = <T extends { id: string }>({
  got,
  operation,
  kind,
  name,
  list,
  id,
  lead,
  actions,
  above,
  children,
}: {
  got: Got<T>;
  /** The operation of `got`: a refusal says which role it needs. */
  operation: string;
  /** The title until the thing is there: "Tool server". */
  kind: string;
  name: (thing: T) => string;
  /** The list that it is in. */
  list: { label: string; href: string };
  /** The id in the address: the audit log says who deleted it. */
  id: string;
  lead: (thing: T) => ReactNode;
  actions: (thing: T) => ReactNode;
  /** Above the content: why an action failed, what a test found. */
  above?: ReactNode;
  children: (thing: T) => ReactNode;
}) => {
  const { data } = got;
  return (
    <Page
      title={data ? name(data) : kind}
      crumbs={[list]}
      lead={data && lead(data)}
      actions={data && actions(data)}
    >
      {above}
      <Loaded got={got} operation={operation} list={list} audit={to.audit({ target_id: id })}>
        {children}
      </Loaded>
    </Page>
  );
};

/** The tabs of a page of one thing, by their names in the address. The first is the one without a name there. */
export const PageTabs = <V extends string>({
  label,
  words,
  counts = {},
  tabs,
}: {
  label: string;
  words: Readonly<Record<V, string>>;
  counts?: { [K in V]?: number | undefined };
  /** What each tab shows; null for a tab that this thing does not have. */
  tabs: Readonly<Record<V, (() => ReactNode) | null>>;
}) => {
  const { search, href } = useUrlState<{ tab?: V }>();
  const shown = (Object.keys(tabs) as V[]).filter((value) => tabs[value] !== null);
  const [first] = shown;
  const open = search.tab && tabs[search.tab] ? search.tab : first!;
  const others = Object.fromEntries(Object.keys(search).map((name) => [name, undefined]));
  return (
    <Tabs
      label={label}
      value={open}
      tabs={shown.map((value) => ({
        value,
        label: words[value],
        href: href({ ...others, tab: value === first ? undefined : value }),
        count: counts[value] || undefined,
      }))}
    >
      {tabs[open]?.()}
    </Tabs>
  );
};
