import { type ReactNode, useRef } from 'react';
import type { Extraction } from '../../api/types.gen.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { extractions as words } from '../../text/en/extractions.ts';
import { Box, Callout, cx, Link, Muted, type Outcome, Section, Tag } from '../../ui/index.ts';
import css from './extractions.module.css';
import { Place } from './Place.tsx';
import type { extractionSearch } from './search.ts';
import { isFound, type Leaf, leavesOf, type Node, treeOf } from './values.ts';

const tones = {
  high: 'on-time',
  medium: 'late',
  low: 'late',
  absent: 'missing',
  none: 'due',
} as const satisfies Record<Leaf['state'], Outcome>;

const wordOf = ({ state }: Leaf): string =>
  state === 'none' ? words.noValue : state === 'absent' ? words.notFound : words.confidences[state];

const shown = (value: Leaf['value']): string => (value === null ? words.noValue : String(value));

const LeafRow = ({
  leaf,
  current,
  href,
  onChoose,
}: {
  leaf: Leaf;
  current: boolean;
  href: string;
  onChoose: () => void;
}) => {
  const [citation] = leaf.citations;
  return (
    <Link
      href={href}
      replace
      keepScroll
      className={cx(css.leaf, current && css.current)}
      aria-current={current ? 'true' : undefined}
      onClick={onChoose}
    >
      <span className={css.key}>{leaf.name}</span>
      <span className={cx(css.value, leaf.value === null && css.nothing)}>
        <bdi>{shown(leaf.value)}</bdi>
      </span>
      <span className={css.found}>
        <Tag kind={tones[leaf.state]}>{wordOf(leaf)}</Tag>
        {citation && <Muted small>{words.onPage(citation.page)}</Muted>}
      </span>
    </Link>
  );
};

const Nodes = ({ nodes, row }: { nodes: readonly Node[]; row: (leaf: Leaf) => ReactNode }) => (
  <ul className={css.nodes}>
    {nodes.map((node) => (
      <li key={node.pointer}>
        {'leaf' in node ? (
          row(node.leaf)
        ) : (
          <>
            <div className={css.group}>
              {node.name} {node.nodes.length === 0 && <Muted small>{words.emptyList}</Muted>}
            </div>
            {node.nodes.length > 0 && <Nodes nodes={node.nodes} row={row} />}
          </>
        )}
      </li>
    ))}
  </ul>
);

/** The values next to the document: the chosen one is shown at its place, with the words that stand there. */
export const Result = ({ extraction }: { extraction: Extraction }) => {
  const { search, href } = useUrlState<ReturnType<typeof extractionSearch>>();
  const place = useRef<HTMLDivElement>(null);
  // On a phone the document is below the values.
  const showPlace = () => {
    if (matchMedia('(max-width: 1000px)').matches) place.current?.scrollIntoView();
  };
  const tree = treeOf(extraction);
  const leaves = leavesOf(tree);
  const chosen =
    leaves.find(({ pointer }) => pointer === search.field) ?? leaves.find(isFound) ?? leaves[0] ?? null;
  const remarks = extraction.warnings.filter(({ code, path }) => path === null || code === 'not_checked');
  const hrefOf = (pointer: string) => href({ field: pointer, at: undefined, page: undefined });
  return (
    <>
      {remarks.length > 0 && (
        <Section label={words.remarks}>
          <Callout tone="look" title={words.remarks}>
            <ul>
              {remarks.map(({ code, path, message }) => (
                <li key={`${code} ${path}`}>
                  {path && <code>{path}</code>} {message}
                </li>
              ))}
            </ul>
          </Callout>
        </Section>
      )}
      <div className={css.result}>
        <Section title={words.result} note={words.resultNote}>
          <Box>
            <Nodes
              nodes={tree}
              row={(leaf) => (
                <LeafRow
                  leaf={leaf}
                  current={leaf.pointer === chosen?.pointer}
                  href={hrefOf(leaf.pointer)}
                  onChoose={showPlace}
                />
              )}
            />
          </Box>
        </Section>
        {chosen && (
          <div ref={place} className={css.placed}>
            <Place extraction={extraction} leaf={chosen} leaves={leaves} hrefOf={hrefOf} />
          </div>
        )}
      </div>
    </>
  );
};
