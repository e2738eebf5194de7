# Ends the process groups of servers when the host is gone. Its input is a pipe that only the host can write to:
# `+GROUP` and `-GROUP` say which groups there are, `?` that one may have ended unseen. The end of the input is the end of the host.
trap '' INT TERM HUP
exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-
groups=' '
# Keeps the groups that take a signal; 0 only asks whether they are there.
signal() {
  reached=' '
  for group in $groups; do kill "$1" "-$group" && reached="$reached$group "; done
  groups=$reached
}
while read -r line; do
  group=${line#?}
  case $line in
    +1 | +0* | ?*[!0-9]*) ;; # Would mean everybody, or nobody.
    +*) case $groups in *" $group "*) ;; *) groups="$groups$group " ;; esac ;;
    -*) case $groups in *" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;; esac ;;
    *) signal -0 ;;
  esac
done
signal -TERM
[ "$groups" = ' ' ] && exit
sleep 1
signal -KILL
