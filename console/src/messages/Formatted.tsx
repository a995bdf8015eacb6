import { createElement, Fragment, type ReactNode } from 'react';
import { Link } from '../ui/index.ts';
import css from './Formatted.module.css';
import { type Block, type Inline, parseInline, parseMarkdown } from './markdown.ts';
import { WithLinks } from './WithLinks.tsx';

const inlineOf = (part: Inline): ReactNode => {
  switch (part.kind) {
    case 'text':
      return <WithLinks text={part.text} />;
    case 'code':
      return <code className={css.inline}>{part.text}</code>;
    case 'link':
      return (
        <Link href={part.href} className={css.link}>
          {part.inside.map(keyed)}
        </Link>
      );
    default:
      return createElement(part.kind, null, part.inside.map(keyed));
  }
};

/** The parts of a text keep their places. */
const keyed = (part: Inline, index: number) => <Fragment key={index}>{inlineOf(part)}</Fragment>;

const Line = ({ text }: { text: string }) => parseInline(text).map(keyed);

const Row = ({ cells, as }: { cells: readonly string[]; as: 'th' | 'td' }) => (
  <tr>{cells.map((cell, index) => createElement(as, { key: index }, <Line text={cell} />))}</tr>
);

const BlockOf = ({ block }: { block: Block }): ReactNode => {
  switch (block.kind) {
    case 'heading':
      return (
        <p className={css.heading}>
          <Line text={block.text} />
        </p>
      );
    case 'paragraph':
      return (
        <p className={css.paragraph}>
          <Line text={block.text} />
        </p>
      );
    case 'code':
      return (
        <pre className={css.code} tabIndex={0}>
          {block.text}
        </pre>
      );
    case 'quote':
      return (
        <blockquote className={css.quote}>
          <Blocks blocks={block.blocks} />
        </blockquote>
      );
    case 'list': {
      const items = block.items.map((inside, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the items of a text keep their places.
        <li key={index}>
          <Blocks blocks={inside} />
        </li>
      ));
      return block.ordered ? (
        <ol className={css.ordered} start={block.start}>
          {items}
        </ol>
      ) : (
        <ul className={css.bullets}>{items}</ul>
      );
    }
    case 'table':
      return (
        <div className={css.scroll} tabIndex={0}>
          <table className={css.table}>
            <thead>
              <Row cells={block.head} as="th" />
            </thead>
            <tbody>
              {block.rows.map((cells, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a text keep their places.
                <Row key={index} cells={cells} as="td" />
              ))}
            </tbody>
          </table>
        </div>
      );
    default:
      return <hr className={css.rule} />;
  }
};

const Blocks = ({ blocks }: { blocks: readonly Block[] }) =>
  // biome-ignore lint/suspicious/noArrayIndexKey: the blocks of a text keep their places.
  blocks.map((block, index) => <BlockOf key={index} block={block} />);

/** A text with its Markdown drawn: text nodes only, no HTML, no images. */
export const Formatted = ({ text }: { text: string }) => (
  <div className={css.formatted}>
    <Blocks blocks={parseMarkdown(text)} />
  </div>
);
