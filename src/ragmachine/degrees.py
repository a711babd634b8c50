"""What "how" asks a degree of, for whoever reads questions."""

# an alternation of a regular expression: how deep, how long
DEGREES = (
    "big|deep|far|fast|hard|heavy|high|large|late|long|low|many|much|often|old|quickly|slow|small"
    "|soon|strong|strongly|tall|wide"
)
