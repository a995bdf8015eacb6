import { useEffect } from 'react';
import type { Branding } from '../api/me.ts';
import { common } from '../text/en/common.ts';
import { applyAccent } from './accent.ts';
import css from './Brand.module.css';

const ProductMark = ({ size }: { size: number }) => (
  <svg width={size} height={size} viewBox="0 0 20 20" aria-hidden="true">
    <rect width="20" height="20" rx="5" fill="var(--ink)" />
    <rect x="4" y="8" width="2.4" height="7" rx="1" fill="var(--on-ink)" />
    <rect x="8" y="5" width="2.4" height="10" rx="1" fill="var(--on-ink)" />
    <rect x="12" y="10" width="2.4" height="5" rx="1" fill="var(--on-ink)" />
  </svg>
);

/** Accepts what the API accepts as a logo: an image in the address itself. */
const isLogo = (address: string): boolean => /^data:image\/(png|jpeg|webp);base64,/.test(address);

export const Brand = ({
  branding,
  size = 20,
  accent = true,
}: {
  branding: Omit<Branding, 'updated_at'> | undefined;
  size?: number;
  /** Makes its color the accent of the page. */
  accent?: boolean;
}) => {
  const light = branding?.logo_data_url ?? '';
  const dark = branding?.logo_dark_data_url || light;
  const color = branding?.primary_color ?? '';
  useEffect(() => {
    if (!accent) return;
    applyAccent(color);
    const observer = new MutationObserver(() => applyAccent(color));
    observer.observe(document.documentElement, { attributeFilter: ['data-mantine-color-scheme'] });
    return () => observer.disconnect();
  }, [color, accent]);
  return (
    <span className={css.brand}>
      {isLogo(light) || isLogo(dark) ? (
        <>
          <img src={isLogo(light) ? light : dark} alt="" height={size} className={css.light} />
          <img src={isLogo(dark) ? dark : light} alt="" height={size} className={css.dark} />
        </>
      ) : (
        <ProductMark size={size} />
      )}
      <b>{branding?.workspace_name || common.product}</b>
    </span>
  );
};
