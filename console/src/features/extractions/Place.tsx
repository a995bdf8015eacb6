import type { Extraction } from '../../api/types.gen.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { extractions as words } from '../../text/en/extractions.ts';
import { Bar, Box, Button, Callout, Muted, Section } from '../../ui/index.ts';
import css from './extractions.module.css';
import { PageView } from './PageView.tsx';
import type { extractionSearch } from './search.ts';
import type { Leaf } from './values.ts';

/** The number in the address, from 0 and at most `last`. */
const numberIn = (text: string | undefined, last: number): number =>
  Math.min(Math.max(0, (Number(text) || 1) - 1), Math.max(0, last));

const noteOf = ({ state, issues }: Leaf): string | null => {
  const known = issues.find((code) => code in words.issues);
  if (known) return words.issues[known as keyof typeof words.issues];
  if (state === 'medium') return words.issues.reformatted;
  return state === 'low' ? words.lowWhy : null;
};

/** The words where the chosen value stands, and what is doubtful about it. */
const Quote = ({ leaf, at, onPlace }: { leaf: Leaf; at: number; onPlace: (at: number) => void }) => {
  const { citations } = leaf;
  const citation = citations[at];
  const note = noteOf(leaf);
  return (
    <div className={css.quote} role="status">
      {note && (
        <Callout tone={leaf.state === 'absent' ? 'bad' : 'look'} title={note}>
          {leaf.state === 'absent' && words.noCitation}
        </Callout>
      )}
      {citation && (
        <>
          <blockquote>
            <bdi>{citation.text}</bdi>
          </blockquote>
          <Bar spread>
            <Muted small>
              {words.place(citation.page, citation.line)}{' '}
              {citations.length > 1 && words.placeOf(at + 1, citations.length)}
            </Muted>
            {citations.length > 1 && (
              <Button small onClick={() => onPlace((at + 1) % citations.length)}>
                {words.nextPlace}
              </Button>
            )}
          </Bar>
        </>
      )}
    </div>
  );
};

/** Place of a value: the quote, and the page with the box drawn. */
export const Place = ({
  extraction,
  leaf,
  leaves,
  hrefOf,
}: {
  extraction: Extraction;
  leaf: Leaf;
  leaves: readonly Leaf[];
  hrefOf: (pointer: string) => string;
}) => {
  const { search, set } = useUrlState<ReturnType<typeof extractionSearch>>();
  const { pages = [] } = extraction;
  const at = numberIn(search.at, leaf.citations.length - 1);
  const citation = leaf.citations[at];
  const wanted = search.page === undefined ? citation?.page : Number(search.page);
  const index = Math.max(
    0,
    pages.findIndex(({ page }) => page === wanted),
  );
  const page = pages[index];
  return (
    <Section
      title={words.document}
      aside={
        page &&
        pages.length > 1 && (
          <Bar>
            <Button
              small
              disabledReason={index === 0 ? words.isFirstPage : null}
              onClick={() => set({ page: String(pages[index - 1]?.page) })}
            >
              {words.previousPage}
            </Button>
            <Button
              small
              disabledReason={index === pages.length - 1 ? words.isLastPage : null}
              onClick={() => set({ page: String(pages[index + 1]?.page) })}
            >
              {words.nextPage}
            </Button>
          </Bar>
        )
      }
      note={page && words.pageTitle(page.page, extraction.file.pages ?? pages.length)}
    >
      <div className={css.place}>
        <Quote leaf={leaf} at={at} onPlace={(next) => set({ at: String(next + 1), page: undefined })} />
        {page ? (
          <>
            <Box sunken>
              <PageView
                page={page}
                chosen={citation?.page === page.page ? citation : null}
                leaf={leaf}
                leaves={leaves}
                hrefOf={hrefOf}
              />
            </Box>
            <Muted small third>
              {page.aspect === null ? words.textNote : words.pageNote}
            </Muted>
          </>
        ) : (
          <Callout>{words.noPages}</Callout>
        )}
      </div>
    </Section>
  );
};
