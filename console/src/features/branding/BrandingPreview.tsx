import type { CSSProperties } from 'react';
import { branding as words } from '../../text/en/branding.ts';
import { number } from '../../text/format.ts';
import { Brand } from '../../ui/Brand.tsx';
import { accentOf } from '../../ui/index.ts';
import css from './Branding.module.css';
import type { Values } from './values.ts';

const ContrastNote = ({ color, scheme }: { color: string; scheme: 'light' | 'dark' }) => {
  if (color === '') return null;
  const accent = accentOf(color, scheme);
  if (!accent) return <p className={css.note}>{words.notColor}</p>;
  const ratio = number(Math.round(accent.contrast * 10) / 10);
  return (
    <p className={css.note}>
      {accent.changed ? words.contrastChanged(ratio, accent.color) : words.contrast(ratio)}
    </p>
  );
};

const Sample = ({ values, scheme }: { values: Values; scheme: 'light' | 'dark' }) => {
  const accent = accentOf(values.primary_color, scheme);
  const style = accent && {
    '--accent': accent.color,
    '--accent-soft': `color-mix(in srgb, ${accent.color} ${scheme === 'dark' ? 20 : 9}%, var(--surface))`,
  };
  return (
    <figure className={css.sample}>
      <figcaption className={css.label}>{words[scheme]}</figcaption>
      <div data-mantine-color-scheme={scheme} className={css.ground} style={style as CSSProperties}>
        <Brand branding={values} accent={false} />
        <span className={css.current}>{words.sampleLink}</span>
        <span className={css.other}>{words.sampleOther}</span>
        <span className={css.selected}>{words.sampleSelected}</span>
        <span className={css.button}>{words.sampleButton}</span>
      </div>
      <ContrastNote color={values.primary_color} scheme={scheme} />
    </figure>
  );
};

export const BrandingPreview = ({ values }: { values: Values }) => (
  <div className={css.samples}>
    <Sample values={values} scheme="light" />
    <Sample values={values} scheme="dark" />
  </div>
);
