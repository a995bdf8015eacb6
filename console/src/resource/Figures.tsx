import type { ReactNode } from 'react';
import { number } from '../text/index.ts';
import { Box, Link, Section } from '../ui/index.ts';
import css from './Figures.module.css';

/** A number with its name, as a link to what it counts. */
export interface Figure {
  name: string;
  value: number | string;
  note?: ReactNode;
  href: string;
  /** Below the number: a drawing. */
  below?: ReactNode;
}

export const Figures = ({ title, figures }: { title: string; figures: readonly Figure[] }) => (
  <Section title={title}>
    <Box>
      <ul className={css.figures}>
        {figures.map(({ name, value, note, href, below }) => (
          <li key={name}>
            <Link href={href}>
              <span>{name}</span>{' '}
              <b>
                {typeof value === 'number' ? number(value) : value} {note && <small>{note}</small>}
              </b>
              {below}
            </Link>
          </li>
        ))}
      </ul>
    </Box>
  </Section>
);
