import {
  createTheme,
  localStorageColorSchemeManager,
  type MantineColorScheme,
  MantineProvider,
  useMantineColorScheme,
} from '@mantine/core';
import type { ReactNode } from 'react';
import './tokens.css';
import './mantine.css';
import './base.css';

const quick = { transition: 'fade', duration: 120 } as const;

const theme = createTheme({
  fontFamily: 'var(--sans)',
  respectReducedMotion: true,
  components: {
    Modal: { defaultProps: { transitionProps: quick } },
    Menu: { defaultProps: { transitionProps: quick } },
    // Fixed: it scrolls with its button, and counts for no target that it covers by half.
    Popover: { defaultProps: { transitionProps: quick, floatingStrategy: 'fixed' } },
    InputWrapper: { defaultProps: { inputWrapperOrder: ['label', 'input', 'error', 'description'] } },
  },
});

/** The key is read by app/scheme.js before the first paint. */
const colorSchemeManager = localStorageColorSchemeManager({ key: 'scheme' });

/** Gives components their theme. `nonce` is for the `<style>` elements that the policy would block. */
export const Theme = ({ nonce, children }: { nonce: string; children: ReactNode }) => (
  <MantineProvider
    theme={theme}
    getStyleNonce={() => nonce}
    withCssVariables={false}
    withGlobalClasses={false}
    defaultColorScheme="auto"
    colorSchemeManager={colorSchemeManager}
  >
    {children}
  </MantineProvider>
);

export type Scheme = MantineColorScheme;
export const schemes: readonly Scheme[] = ['auto', 'light', 'dark'];

export const useScheme = (): [Scheme, (scheme: Scheme) => void] => {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return [colorScheme, setColorScheme];
};
