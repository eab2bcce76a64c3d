/** Light, dark, or as the system says. */
import { signal } from '@preact/signals';

export type Theme = 'auto' | 'light' | 'dark';
const key = 'sluice-theme';
const systemDark = matchMedia('(prefers-color-scheme: dark)');

function stored(): Theme {
  const { theme } = document.documentElement.dataset;
  return theme === 'light' || theme === 'dark' ? theme : 'auto';
}

export const theme = signal<Theme>(stored());
const systemIsDark = signal(systemDark.matches);
systemDark.addEventListener('change', (event) => {
  systemIsDark.value = event.matches;
});

/** Changes with every change of colours, whoever caused it. */
export const isDark = (): boolean => (theme.value === 'auto' ? systemIsDark.value : theme.value === 'dark');

export function chooseTheme(next: Theme): void {
  if (next === 'auto') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.setAttribute('data-theme', next);
  try {
    if (next === 'auto') localStorage.removeItem(key);
    else localStorage.setItem(key, next);
  } catch {
    // Storage may be forbidden; the choice then lasts as long as the page.
  }
  theme.value = next;
}
