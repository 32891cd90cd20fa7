/** The same thing with other methods in the place of some. What is private to its class stays with the thing itself. */
export function overlaid<Shape extends object, Target extends Shape = Shape>(
  target: Target,
  methods: Partial<Shape>,
): Target {
  return new Proxy(target, {
    get(real, name) {
      const other: unknown = Reflect.get(methods, name);
      if (other !== undefined) return other;
      const value: unknown = Reflect.get(real, name, real);
      return typeof value === 'function' ? value.bind(real) : value;
    },
  });
}
