import { ActionIcon, Menu, useMantineColorScheme } from '@mantine/core';
import { DesktopIcon, MoonIcon, SunIcon } from '@radix-ui/react-icons';

const SCHEMES = [
  ['auto', 'System', DesktopIcon],
  ['light', 'Light', SunIcon],
  ['dark', 'Dark', MoonIcon],
] as const;

export function ColorSchemeMenu() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [, label, Icon] = SCHEMES.find(([scheme]) => scheme === colorScheme) ?? SCHEMES[0];
  return (
    <Menu withinPortal={false}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="xl" aria-label={`Colors: ${label}`}>
          <Icon />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.RadioGroup value={colorScheme} onChange={(scheme) => setColorScheme(scheme as typeof colorScheme)}>
          {SCHEMES.map(([scheme, text]) => (
            <Menu.RadioItem key={scheme} value={scheme}>
              {text}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  );
}
